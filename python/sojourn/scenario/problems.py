"""Validation errors as one line a user can act on."""

import re

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sojourn.errors import CompilationFailed

#: What pydantic would say in its own terms.
PLAIN = {
    "missing": "this key is required",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "list_type": "must be a list",
}


#: The keys with further problems that a line names.
MOST_KEYS = 6


def describe(error: ValidationError, within: str = "") -> str:
    """The first problem as ``key: what is wrong``, then the keys of others; ``within`` is where the keys begin."""
    first, *others = error.errors(include_url=False)
    message = str(first["ctx"]["error"]) if first["type"] == "value_error" else _plain(first)
    key, *further = (_path((within, *problem["loc"]) if within else problem["loc"]) for problem in (first, *others))
    more = _also([other for other in dict.fromkeys(further) if other != key])
    return _on_one_line(f"{key}: {message}{more}" if key else f"{message}{more}")


def _on_one_line(text: str) -> str:
    """The text with what a terminal would not show as it is, such as line breaks of a file's contents, written as in Python."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _also(keys: list[str]) -> str:
    named, rest = keys[:MOST_KEYS], len(keys) - MOST_KEYS
    tail = f" and {rest} more" if rest > 0 else ""
    return f" (also wrong: {', '.join(named)}{tail})" if named else ""


def output(error: ValidationError) -> str:
    """What a compiler said of the first problem, if one did."""
    first = error.errors(include_url=False)[0]
    cause = first["ctx"]["error"] if first["type"] == "value_error" else None
    return cause.output if isinstance(cause, CompilationFailed) else ""


def _plain(problem: ErrorDetails) -> str:
    if problem["type"] in PLAIN:
        return PLAIN[problem["type"]]
    if problem["type"] == "too_short":
        return f"must have {problem['ctx']['min_length']} or more"
    given = problem["input"]
    shown = f'"{given}"' if isinstance(given, str) else repr(given)
    # "Input should be ...", "String should have ...": the line begins with the key, which is the subject.
    message = re.sub(r"^\w+ should ", "must ", problem["msg"])
    return message + (f", not {shown}" if isinstance(given, str | int | float | bool) else "")


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path
