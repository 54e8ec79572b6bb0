"""Names that mean the same everywhere or are not known, and what no name may be."""

import difflib
import unicodedata
from collections.abc import Iterable

#: Categories of characters that no name may have: controls, ends of lines, and halves of surrogate pairs.
_NOT_IN_NAMES = {"Cc", "Zl", "Zp", "Cs"}

#: What selections of cells call a group of flows, as if it were an axis; no axis has this name.
GROUP = "group"


def unknown(what: str, given: str, known: Iterable[str]) -> str:
    """``unknown key "duratoin", did you mean "duration"? (known: ...)``."""
    names = list(known)
    close = difflib.get_close_matches(given.casefold(), {name.casefold(): name for name in names}, n=1, cutoff=0.5)
    nearest = next((name for name in names if close and name.casefold() == close[0]), None)
    hint = f', did you mean "{nearest}"?' if nearest else ""
    return f'unknown {what} "{given}"{hint} (known: {", ".join(names)})'


def fault(name: str) -> str | None:
    """Why tables, files and pages cannot show this name as it is, such as ``is empty``; none if they can."""
    if not name:
        return "is empty"
    if name != name.strip():
        return "starts or ends with a space"
    if any(unicodedata.category(character) in _NOT_IN_NAMES for character in name):
        return "has a control character or a line break"
    return None
