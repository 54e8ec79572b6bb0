"""Markdown from plain text."""

import re
from collections.abc import Iterable, Sequence

_MEANS_SOMETHING = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def plain(text: object) -> str:
    """Text in which nothing is markup, on one line."""
    return _MEANS_SOMETHING.sub(r"\\\1", " ".join(str(text).split()))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown; a heading that ends with a colon is of a right-aligned column."""
    rules = ["---:" if heading.endswith(":") else "---" for heading in headings]
    lines = [[heading.removesuffix(":") for heading in headings], rules, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
