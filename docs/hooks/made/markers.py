"""What of a page is made: Python expressions in comments, and their values behind them.

- ``<!-- let: NAME = EXPRESSION -->`` names something for the rest of the page.
- ``<!-- make: EXPRESSION -->...<!-- end -->`` holds a value: within a line, or as lines of its own.
- ``<!-- true: EXPRESSION -->`` is a condition that a sentence rests on.
- ``<!-- given: REASON -->...<!-- end -->`` holds numbers that nothing here can make, and says where they come from.

Comments are shown neither on the site nor by whoever else renders Markdown. Those in code are examples.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal

END = "<!-- end -->"

#: The kinds of markers that hold something, up to ``END``.
HOLDING = ("make", "given")

_MARKER = re.compile(r"<!-- (?P<kind>let|make|true|given):\s(?P<code>.*?)\s-->", re.DOTALL)

_CODE = re.compile(" {4}")


@dataclass(frozen=True)
class Problem:
    """What is wrong in a page, by line."""

    line: int
    text: str


class NotMeasured(Exception):
    """There is no record of what a page asks for, as long as its runs have not been made."""


@dataclass
class Made:
    """A page with what is made in it made again, how it differs from what stood there, and what cannot be made."""

    text: str = ""
    differences: list[Problem] = field(default_factory=list)
    failures: list[Problem] = field(default_factory=list)
    #: What waits for runs that take long; what stands there is left.
    waiting: list[Problem] = field(default_factory=list)


def made(page: str, names: Mapping[str, Any]) -> Made:
    """Makes a page again; expressions may use ``names`` and what the page itself names."""
    known, result, place = dict(names), Made(), 0
    unmeasured: set[str] = set()
    while marker := _next(page, place):
        result.text += page[place : marker.end()]
        place, line = marker.end(), page.count("\n", 0, marker.start()) + 1
        held = None
        if marker["kind"] in HOLDING:
            end = page.find(END, place)
            if end < 0 or _next(page, place, end):
                result.failures.append(Problem(line, f"no {END} before the next marker"))
                continue
            held, place = page[place:end], end
        code = marker["code"].strip()
        try:
            fresh = _carried_out(marker["kind"], code, known, held)
        except Exception as error:
            # Whatever an expression raises is to be told with its place.
            waits = isinstance(error, NotMeasured) or (isinstance(error, NameError) and error.name in unmeasured)
            if waits and marker["kind"] == "let":
                unmeasured |= _named(code)
            problem = Problem(line, f"{' '.join(code.split())}: {type(error).__name__}: {error}")
            (result.waiting if waits else result.failures).append(problem)
            fresh = held
        if fresh != held and held is not None and fresh is not None:
            result.differences.append(Problem(line + page.count("\n", marker.start(), marker.end()), _difference(held, fresh)))
        result.text += fresh or ""
    result.text += page[place:]
    return result


def _carried_out(kind: str, code: str, known: dict[str, Any], held: str | None) -> str | None:
    """What is to stand behind a marker, if something is."""
    match kind:
        case "let":
            exec(code, known)
        case "true":
            if eval(code, known) is not True:
                raise ValueError("no longer true; the sentence that rests on it is to be changed")
        case "make":
            value = str(eval(code, known))
            return f"\n{value}\n" if held is not None and held.startswith("\n") else value
    return held


def _named(code: str) -> set[str]:
    """What code gives a name."""
    found = list(ast.walk(ast.parse(code)))
    functions = {each.name for each in found if isinstance(each, ast.FunctionDef)}
    return functions | {each.id for each in found if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _difference(old: str, new: str) -> str:
    """The first line that differs."""
    pairs = zip_longest(old.split("\n"), new.split("\n"), fillvalue="")
    was, made = next((was.strip(), made.strip()) for was, made in pairs if was != made)
    return f"{was!r} stands there, {made!r} is made"


def unmarked(page: str) -> str:
    """A page without the markers."""
    return "".join(text for kind, text in _parts(page) if kind != "marker")


def by_hand(page: str) -> str:
    """A page without what is made or given, as many lines long."""
    return "".join(text if kind == "page" else "\n" * text.count("\n") for kind, text in _parts(page))


def _parts(page: str) -> Iterator[tuple[Literal["page", "marker", "held"], str]]:
    place = 0
    while marker := _next(page, place):
        yield "page", page[place : marker.start()]
        yield "marker", marker.group()
        place = marker.end()
        if marker["kind"] in HOLDING:
            end = page.find(END, place)
            yield "held", page[place:end]
            place = end + len(END)
    yield "page", page[place:]


def _next(page: str, place: int, end: int | None = None) -> re.Match[str] | None:
    """The first marker behind a place that is not in code."""
    found = _MARKER.finditer(page, place, len(page) if end is None else end)
    return next((each for each in found if not _CODE.match(page, page.rfind("\n", 0, each.start()) + 1)), None)
