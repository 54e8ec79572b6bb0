"""The script that draws charts: Vega, Vega-Lite and what embeds them, the same in all reports."""

import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup

from sojourn.store import write_whole

#: Prints the script.
BUNDLE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;').encode())"


#: What keeps a file from being where it should: a directory that cannot be written, or a user without a home.
NOT_THERE = (OSError, RuntimeError)


@cache
def script() -> Markup:
    """The script. To bundle it takes over a second, so it is kept in the user's cache, with its digest before it."""
    made = _kept()
    if made is None:
        # In a process of its own: the JavaScript engine that bundles it keeps 60 MB.
        made = subprocess.run([sys.executable, "-c", BUNDLE], capture_output=True, check=True).stdout
        _keep(made)
    return Markup(made.decode().replace("</script", "<\\/script"))


def _file() -> Path:
    """Where it is kept, by what it is made of (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    made_of = sha256(f"{version('vl-convert-python')}\n{BUNDLE}".encode()).hexdigest()
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return root / "sojourn" / "report" / f"vega-{made_of[:16]}.js"


def _kept() -> bytes | None:
    """What is kept, if it is there and whole."""
    with suppress(*NOT_THERE):
        digest, _, made = _file().read_bytes().partition(b"\n")
        if digest == _digest(made):
            return made
    return None


def _keep(made: bytes) -> None:
    """Keeps it, where that is possible."""
    with suppress(*NOT_THERE):
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, lambda path: path.write_bytes(_digest(made) + b"\n" + made))


def _digest(made: bytes) -> bytes:
    return sha256(made).hexdigest().encode()
