"""Scripts of packetdrill, carried out on the engine's TCP (crates/packetdrill)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sojourn import _engine
from sojourn.errors import InputError

#: How names of scripts end.
SUFFIX = ".pkt"


@dataclass(frozen=True)
class Difference:
    """The first difference between a script and what was seen."""

    #: Line of the script.
    line: int
    #: Seconds after the beginning.
    at: float
    #: What the script expects: a packet in its notation, or words.
    expected: str
    #: What was seen.
    seen: str


@dataclass(frozen=True)
class Outcome:
    """What came of a script."""

    verdict: Literal["passed", "failed", "not for us"]
    #: Packets sent and received, in the notation of scripts.
    packets: tuple[str, ...]
    #: If it failed.
    difference: Difference | None = None
    #: What it needs that an endpoint does not have, if it is not for us.
    feature: str | None = None


def scripts(places: Iterable[Path]) -> Iterator[Path]:
    """The scripts among files and in directories, at any depth, by name."""
    for place in places:
        if not place.is_dir():
            if not place.exists():
                raise InputError(f"{place}: No such file or directory")
            yield place
            continue
        found = sorted(place.rglob(f"*{SUFFIX}"))
        if not found:
            raise InputError(f"{place}: no scripts (files *{SUFFIX})")
        yield from found


def run(script: Path) -> Outcome:
    """Carry out a script."""
    try:
        text = script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text"
        raise InputError(f"{script}: {reason}") from None
    try:
        told = _engine.packetdrill(text)
    except _engine.ScriptError as error:
        raise InputError(f"{script}: {error}") from None
    difference = None
    if told["verdict"] == "failed":
        difference = Difference(told["line"], told["at"], told["expected"], told["seen"])
    return Outcome(told["verdict"], tuple(told["packets"]), difference, told.get("feature"))
