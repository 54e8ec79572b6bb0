"""Names that mean the same everywhere, messages for names that are not known, and what no name may be."""

import difflib
import re
import unicodedata
from collections.abc import Iterable

#: What selections of cells call a group of flows, as if it were an axis; no axis has this name.
GROUP = "group"

#: The column that tells runs of several backends apart, as an axis does; no axis has this name.
BACKEND = "backend"

#: The file that makes a directory one of results.
MARKER = "sojourn.json"

#: Categories of characters that no name may have: controls, ends of lines, and halves of surrogate pairs.
_NOT_IN_NAMES = {"Cc", "Zl", "Zp", "Cs"}


def unknown(what: str, given: str, known: Iterable[str]) -> str:
    """``unknown key "duratoin", did you mean "duration"? (known: ...)``."""
    names = list(known)
    listed = f"known: {', '.join(names)}" if names else "there is none"
    return f"{nearest(what, given, names)} ({listed})"


def check(
    what: str, given: str | Iterable[object], known: Iterable[object], error: type[Exception] = ValueError, place: str = ""
) -> None:
    """Raises an error that begins with ``place`` if a name, or one of several, is not known."""
    listed = dict.fromkeys(map(str, known))
    for name in [given] if isinstance(given, str) else map(str, given):
        if name not in listed:
            raise error(f"{place}{unknown(what, name, listed)}")


def nearest(what: str, given: str, known: Iterable[str], most: int = 1) -> str:
    """The same without what is known: ``unknown key "duratoin", did you mean "duration"?``; at most ``most`` suggestions."""
    by_letters = {name.casefold(): name for name in reversed(list(known))}
    close = difflib.get_close_matches(given.casefold(), by_letters, n=most, cutoff=0.5)
    *others, last = [f'"{by_letters[letters]}"' for letters in close] or [""]
    choice = f"{', '.join(others)} or {last}" if others else last
    hint = f", did you mean {choice}?" if close else ""
    return f'unknown {what} "{given}"{hint}'


def fault(name: str) -> str | None:
    """Why tables, files and pages cannot show this name as it is, such as ``is empty``; none if they can."""
    if not name:
        return "is empty"
    if name != name.strip():
        return "starts or ends with a space"
    if any(unicodedata.category(character) in _NOT_IN_NAMES for character in name):
        return "has a control character or a line break"
    return None


#: What a plain name is made of.
PLAIN = 'letters, digits, ".", "_" and "-", the first a letter or a digit'


def is_plain(name: str) -> bool:
    """Whether a name can stand for a folder and in a command as it is."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) is not None


def is_plain_file(name: str) -> bool:
    """Whether a name is that of a file in the same folder: no path that leads elsewhere."""
    return bool(name) and "/" not in name and "\\" not in name and name not in (".", "..")
