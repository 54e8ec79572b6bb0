"""A study's README as HTML: in sections, without the links that lead to files beside it."""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import escape

#: The heading of the section that a reader of a report wants most.
ASSUMPTIONS = "Assum"

#: What begins a table that scrolls if it is wide.
_OPENED = '<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table>'


@dataclass(frozen=True)
class Section:
    """A heading, and the HTML of what stands under it."""

    heading: str
    html: str

    @property
    def assumptions(self) -> bool:
        """Whether it tells what was assumed."""
        return self.heading.startswith(ASSUMPTIONS)


def sections(path: Path) -> list[Section]:
    """The sections of second order of a file in Markdown; none if there is no file."""
    if not path.exists():
        return []
    # Comments say how a page's numbers are made (docs/write-a-number.md).
    text = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return [Section(heading, html(text, heading)) for heading, text in zip(parts[1::2], parts[2::2], strict=True)]


def html(text: str, heading: str) -> str:
    """Markdown below a heading as HTML; only links to the web remain links, and each table has a name of its own."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = markdown.parse(text)
    for token in tokens:
        if token.children:
            token.children = _unlinked(token.children)
    made = str(markdown.renderer.render(tokens, markdown.options, {}))
    numbers = itertools.count(1)
    return re.sub("<table>", lambda _: _OPENED.format(name=escape(f"{heading}: table {next(numbers)}")), made).replace(
        "</table>", "</table></div>"
    )


def _unlinked(tokens: list[Token]) -> list[Token]:
    kept: list[Token] = []
    open_links: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            open_links.append(str(token.attrGet("href")).startswith(("http://", "https://")))
            if not open_links[-1]:
                continue
        if token.type == "link_close" and not open_links.pop():
            continue
        kept.append(token)
    return kept
