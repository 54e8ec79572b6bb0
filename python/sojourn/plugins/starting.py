"""Files to start from: an algorithm that runs at once, and a scenario that sets it beside others."""

from importlib.resources import files
from pathlib import Path
from textwrap import wrap

from sojourn import catalogue
from sojourn.errors import InputError
from sojourn.plugins.declared import NAME

#: Languages and the endings of their files.
ENDINGS = {"python": ".py", "c": ".c"}

#: What the templates call the algorithm, its file, and hooks that it does not define yet.
NAME_THERE, FILE_THERE, HOOKS_THERE = "NAME", "FILE", "    HOOKS\n"


def begin(kind: str, name: str, language: str, folder: Path) -> list[Path]:
    """Writes an algorithm and its scenario; ``kind`` is ``tcp`` or ``queue``."""
    if not NAME.fullmatch(name):
        raise InputError(f'"{name}" is not a name of an algorithm: letters, digits and underscores, no digit first')
    ending = ENDINGS[language]
    file = folder / f"{name}{ending}"
    scenario = folder / f"{name}.toml"
    for path in (file, scenario):
        if path.exists():
            raise InputError(f"{path}: is there; choose another name or remove it")
    # Classes are called as Python does, everything else as given.
    code = _template(f"{kind}{ending}").replace(f"class {NAME_THERE}(", f"class {_of_class(name)}(")
    _write(file, code.replace(NAME_THERE, name).replace(HOOKS_THERE, _further_hooks(code)))
    _write(scenario, _template(f"{kind}.toml").replace(NAME_THERE, name).replace(FILE_THERE, file.name))
    return [file, scenario]


def _template(name: str) -> str:
    return (files("sojourn.plugins") / "templates" / f"{name}.in").read_text(encoding="utf-8")


def _further_hooks(code: str) -> str:
    further = [hook for hook in catalogue.load().hooks if f" {hook.name}(" not in code]
    width = max(len(hook.call) for hook in further)
    lines = (wrap(f"{hook.call:{width}}  {hook.called}", 120, subsequent_indent=" " * (width + 2)) for hook in further)
    return "".join(f"    # {line}\n" for hook in lines for line in hook)


def _of_class(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
