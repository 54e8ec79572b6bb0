"""Compiles plugins in C with the system's compiler, once for each source, compiler and version of the header."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from sojourn.errors import CompilationFailed
from sojourn.plugins.source import LINUX, Source, cache, shows_of

#: The folder of ``sojourn.h``.
HEADERS = Path(__file__).parent

#: Without contraction, so that products and sums are rounded alike on all machines, as they are in the engine.
OPTIONS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-ffp-contract=off", "-Wall")

#: For modules of Linux: what they need that there is not is an error, that of the linker too.
MODULE_OPTIONS = (
    *("-Wno-all", "-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types"),
    "-Wl,--no-undefined",
)

#: The folder of what stands for the kernel's headers, and for the kernel that calls a module.
KERNEL = HEADERS / "linux"

#: A header of the kernel that a module includes.
KERNEL_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>", re.MULTILINE)

#: What compilers say of a name that no header declares.
LACKING = re.compile(
    r"implicit declaration of function '(\w+)'|call to undeclared function '(\w+)'|'(\w+)' undeclared|"
    r"undeclared identifier '(\w+)'|no member named '(\w+)'|unknown type name '(\w+)'|"
    r"undefined reference to [`'](\w+)'|undefined symbol: (\w+)"
)

#: What compilers say of a file that is included and is not there.
ABSENT = re.compile(r"fatal error: '?([^'\s:]+)'?(?:: No such file| file not found)")

#: The first that compilers say is wrong, and where.
WRONG = re.compile(r"^(?:[^\s:]*/)?(?P<file>[^\s:/]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)$", re.MULTILINE)

#: What MODULE_SHOW_STATE defines (``sojourn-linux.h``).
STATE = "sojourn_module_state"

#: What a module that draws random numbers calls, and what one that reads timestamps reads.
DRAWS, TIMESTAMPS = re.compile(r"\b(?:prandom|get_random)_\w+"), re.compile(r"\brcv_tsval\b")

#: What compilers say of a hook whose arguments are those of another release.
OTHER_RELEASE = re.compile(r"incompatible[- ](?:function[- ])?pointer[- ]types?")

#: Has a module compiled for a later release (``sojourn-linux.h``).
LATER = "-DSOJOURN_KERNEL_IS_LATER"

#: Seconds that a compiler may take.
PATIENCE = 120


#: Held while a compiler runs.
_running = threading.Lock()


def is_running() -> bool:
    """Whether this process is starting or awaiting a compiler."""
    return _running.locked()


def name() -> str:
    """The compiler that is used."""
    return os.environ.get("CC") or "cc"


def compiler() -> str | None:
    """Its path, if it is installed."""
    return shutil.which(name())


def compiled(source: Source) -> Path:
    """The shared library of a source in C, compiled if it is not in the cache.

    Raises:
        CompilationFailed: it does not compile; the compiler's output is in it.
        ValueError: there is no compiler.
    """
    program = compiler()
    if program is None:
        raise ValueError(f"{source.file}: no C compiler: {name()} is not installed; install one, such as gcc, or set CC")
    stamp = Path(program).resolve().stat()
    headers = [path.read_text(encoding="utf-8") for path in sorted(HEADERS.rglob("*.[ch]"))]
    options = (*OPTIONS, *MODULE_OPTIONS) if source.language == LINUX else OPTIONS
    identity = (program, str(stamp.st_size), str(stamp.st_mtime_ns), *options, *headers, source.language, source.digest)
    library = cache() / f"{hashlib.sha256(chr(0).join(identity).encode()).hexdigest()}.so"
    if not library.exists():
        _compile(program, source, library)
    return library


def _compile(program: str, source: Source, library: Path) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent, prefix="compiling-") as folder:
        for file, text in source.files.items():
            (Path(folder) / file).write_text(text, encoding="utf-8")
        made = Path(folder) / "made.so"
        units = _units(source, Path(folder)) if source.language == LINUX else [source.file]
        command = [program, *OPTIONS, f"-I{HEADERS}", "-o", made.name, *units, "-lm"]
        ended = _run(command, source, folder)
        if ended.returncode != 0 and source.language == LINUX and OTHER_RELEASE.search(_output(ended)):
            # Of two complaints, the shorter is that of the release that is meant.
            ended = min(_run([*command, LATER], source, folder), ended, key=_errors)
        if ended.returncode != 0:
            output = _output(ended)
            raise CompilationFailed(_complaint(source, Path(program).name, output), output)
        # Whole or not at all: another process may compile the same.
        made.replace(library)


def _run(command: list[str], source: Source, folder: str) -> "subprocess.CompletedProcess[bytes]":
    try:
        with _running:
            return subprocess.run(
                command,
                cwd=folder,
                env={**os.environ, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise CompilationFailed(f"{source.file}: the compiler took more than {PATIENCE} s", "") from None


def _output(ended: "subprocess.CompletedProcess[bytes]") -> str:
    return (ended.stderr + ended.stdout).decode("utf-8", "replace")


def _errors(ended: "subprocess.CompletedProcess[bytes]") -> int:
    return _output(ended).count("error:") if ended.returncode != 0 else 0


def _units(source: Source, folder: Path) -> list[str]:
    """What is compiled of a module of Linux: itself with what calls it, and the files that it needs; with options for them."""
    headers = folder / "headers"
    for text in source.files.values():
        for header in KERNEL_HEADER.findall(text):
            path = headers / header
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('#include "sojourn-linux.h"\n', encoding="utf-8")
    unit = folder / "sojourn_module.c"
    # Several files of a module have a module_init; this is the one that counts. glue.c is apart from it, for it has names too.
    start = "int sojourn_main_init(void) { return sojourn_module_init ? sojourn_module_init() : -1; }"
    own = [source.file, "sojourn-linux.h"]
    shows = shows_of(source.file)
    if shows in source.files:
        own += ["sojourn.h", shows]
    unit.write_text("".join(f'#include "{file}"\n' for file in own) + f"{start}\n", encoding="utf-8")
    others = [name for name in source.files if name.endswith(".c") and name not in own]
    text = "\n".join(source.files.values())
    return [
        *(*MODULE_OPTIONS, f"-I{headers}", f"-I{KERNEL}"),
        f"-DSOJOURN_MODULE_DRAWS={int(DRAWS.search(text) is not None)}",
        f"-DSOJOURN_MODULE_TIMESTAMPS={int(TIMESTAMPS.search(text) is not None)}",
        *(unit.name, str(KERNEL / "glue.c"), *others),
    ]


def _complaint(source: Source, compiler: str, output: str) -> str:
    """One line on why a source does not compile; of a module, what it needs that there is not, or what is wrong beside it."""
    first, shows = WRONG.search(output), shows_of(source.file)
    if source.language == LINUX and first is not None and first["file"] == shows:
        return f"{shows}:{first['line']}: {first['what']} ({compiler})"
    lacking = list(dict.fromkeys(name for found in LACKING.findall(output) for name in found if name))
    if shows in source.files and STATE in lacking:
        return f"{shows}: says with no MODULE_SHOW_STATE which struct the module has for its state ({compiler})"
    if source.language == LINUX and lacking:
        return f"{source.file}: needs {', '.join(lacking)} of the kernel, which Sojourn does not have ({compiler})"
    absent = ABSENT.search(output)
    if absent:
        return f"{source.file}: includes {absent[1]}, which is not beside it ({compiler})"
    return f"{source.file}: does not compile ({compiler})"
