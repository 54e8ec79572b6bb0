"""Listings of the project's own files, as they are."""

import re
from collections.abc import Sequence
from itertools import groupby

from made.results import ROOT

#: What stands above an item and belongs to it: comments and attributes.
_ABOVE = ("//", "#", "@")


def source(path: str, *beginnings: str, only: Sequence[str] = ()) -> str:
    """A file's text, or its items that begin so, each with the comments above it.

    An item goes on as long as its lines are indented, and closes with a bracket. With ``only``, lines within items that have
    none of these words give way to dots.
    """
    text = (ROOT / path).read_text(encoding="utf-8")
    if not beginnings:
        return text
    items = [_item(path, text.splitlines(), beginning) for beginning in beginnings]
    return "\n\n".join("\n".join(_shortened(item, only) if only else item) for item in items)


def _item(path: str, lines: Sequence[str], beginning: str) -> list[str]:
    found = [number for number, line in enumerate(lines) if line.startswith(beginning)]
    if len(found) != 1:
        raise ValueError(f"{path}: {len(found)} lines begin with {beginning!r}")
    first = last = found[0]
    while first and lines[first - 1].startswith(_ABOVE):
        first -= 1
    while last + 1 < len(lines) and (not lines[last + 1] or lines[last + 1].startswith(" ")):
        last += 1
    if last > found[0] and last + 1 < len(lines) and lines[last + 1].startswith((")", "]", "}")):
        last += 1
    return "\n".join(lines[first : last + 1]).rstrip().splitlines()


def _shortened(item: Sequence[str], only: Sequence[str]) -> list[str]:
    if len(item) < 3:
        return list(item)
    inner = groupby(item[1:-1], lambda line: any(word in re.findall(r"\w+", line) for word in only))
    kept = [line for shown, lines in inner for line in (lines if shown else ["    ..."])]
    return [item[0], *kept, item[-1]]
