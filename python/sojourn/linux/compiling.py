"""Compiling a kernel: its configuration, and ``make``."""

import os
import re
import subprocess
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from sojourn.errors import RunFailed

#: Ticks a second. User Mode Linux has 100, distributions have 250 or 1000; congestion controls that count in ticks see no more
#: than that.
HZ = 1000

#: So that the same source gives the same binary.
REPRODUCIBLE = {"KBUILD_BUILD_TIMESTAMP": "1970-01-01", "KBUILD_BUILD_USER": "sojourn", "KBUILD_BUILD_HOST": "sojourn"}

#: The options that a run cannot do without.
REQUIRED = (
    "CONFIG_UML_TIME_TRAVEL_SUPPORT=y",
    "CONFIG_HIGH_RES_TIMERS=y",
    "CONFIG_NET_SCHED=y",
    "CONFIG_VETH=y",
    f"CONFIG_HZ={HZ}",
)

#: The definition of an option.
_DEFINED = re.compile(r"(?m)^\s*(?:menu)?config +(\w+)")

#: A file that ``make`` has compiled.
COMPILED = re.compile(r"^ +(CC|AS|LD|AR) ")


def own_configuration() -> bytes:
    """The options that Sojourn sets; all others are off, or what these need."""
    return resources.files("sojourn.linux").joinpath("kernel", "sojourn.config").read_bytes()


def configure(source: Path, build: Path, log: Path) -> str:
    """Writes the configuration of a kernel and returns it.

    HZ cannot be chosen in User Mode Linux; the first of several defaults counts (Documentation/kbuild/kconfig-language.rst), so
    a definition before the kernel's own sets it, and the source stays as it is.
    """
    build.mkdir(parents=True, exist_ok=True)
    (build / "sojourn.config").write_bytes(own_configuration())
    top = (source / "Kconfig").read_text()
    (build / "Kconfig.sojourn").write_text(
        re.sub(r"(?m)^(mainmenu .*)$", rf"\1\n\nconfig HZ\n\tint\n\tdefault {HZ}\n", top, count=1)
    )
    _make(source, build, log, ["allnoconfig"], {"KCONFIG_ALLCONFIG": str(build / "sojourn.config")})
    text = (build / ".config").read_text()
    unknown, refused = missing(own_configuration().decode(), text, source)
    with log.open("a") as output:
        output.writelines(f"this source does not know {option}\n" for option in unknown)
    refused += [option for option in REQUIRED if option not in text.splitlines() and option not in refused]
    if refused:
        raise RunFailed(f"this kernel cannot be configured with {', '.join(refused)}; {log} has more")
    return text


def missing(asked: str, configuration: str, source: Path) -> tuple[list[str], list[str]]:
    """The options asked for that a configuration lacks: those that the source does not know, and those that it knows."""
    has = set(configuration.splitlines())
    lacked = [line for line in asked.splitlines() if line.startswith("CONFIG_") and line not in has]
    known = _known(source) if lacked else set()
    is_known = {line: line.removeprefix("CONFIG_").partition("=")[0] in known for line in lacked}
    return [line for line in lacked if not is_known[line]], [line for line in lacked if is_known[line]]


def _known(source: Path) -> set[str]:
    """The names of all options that a source defines, for any architecture."""
    found: set[str] = set()
    for folder, _, files in os.walk(source):
        for name in files:
            if name.startswith("Kconfig"):
                found.update(_DEFINED.findall((Path(folder) / name).read_text(errors="replace")))
    return found


def compile_file(build: Path, source: Path, place: Path, log: Path, jobs: int) -> None:
    """Compiles one file of a source, and what it needs, before all others: a mistake in it should not take long to be found."""
    _make(source, build, log, [f"-j{jobs}", str(place.with_suffix(".o"))], {})


def compile_kernel(source: Path, build: Path, log: Path, jobs: int, on_file: Callable[[int], None]) -> Path:
    """Compiles a kernel, or goes on where that stopped, and returns its binary; ``on_file`` gets the number of files so far."""
    _make(source, build, log, [f"-j{jobs}", "linux"], {}, on_file)
    return build / "linux"


def _make(
    source: Path,
    build: Path,
    log: Path,
    targets: list[str],
    environment: dict[str, str],
    on_file: Callable[[int], None] = lambda _: None,
) -> None:
    command = ["make", "-C", str(source), f"O={build}", "ARCH=um", f"KBUILD_KCONFIG={build / 'Kconfig.sojourn'}", *targets]
    variables = {**os.environ, **REPRODUCIBLE, **environment, "LC_ALL": "C"}
    with log.open("a") as output:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables)
        assert process.stdout is not None
        lines, compiled = list[str](), 0
        try:
            for line in process.stdout:
                output.write(line)
                lines.append(line)
                if COMPILED.match(line):
                    compiled += 1
                    on_file(compiled)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.wait():
        errors = [line.strip() for line in lines if "error:" in line or "Error " in line or "***" in line]
        raise RunFailed(f"make failed: {errors[0] if errors else lines[-1].strip()}; {log} has more")
