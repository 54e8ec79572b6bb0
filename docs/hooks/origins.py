"""Where the pages of the site come from, and their links: files of the repository link to one another by their places in it."""

import posixpath
import re
from collections.abc import Collection, Mapping

#: Pages that are files outside of docs/.
ELSEWHERE = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}

STUDY = re.compile(r"studies/(?P<name>[^/]+)\.md")

NOTEBOOK = re.compile(r"notebooks/(?P<name>[^/]+)\.md")

_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)")


def origin(page: str) -> str:
    """The file of the repository that a page is, by its place on the site."""
    study = STUDY.fullmatch(page)
    if notebook := NOTEBOOK.fullmatch(page):
        return f"examples/notebooks/{notebook['name']}.ipynb"
    return f"studies/{study['name']}/README.md" if study else ELSEWHERE.get(page, f"docs/{page}")


def relinked(markdown: str, page: str, pages: Collection[str]) -> str:
    """A page's text, whose links lead to pages of the site; of links to files that have no page only the text is left."""
    places = {origin(each): each for each in pages}
    return _LINK.sub(lambda link: _relinked(link["text"], link["target"], page, places), markdown)


def _relinked(text: str, target: str, page: str, places: Mapping[str, str]) -> str:
    path, hash_, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", target):
        return f"[{text}]({target})"
    meant = posixpath.normpath(posixpath.join(posixpath.dirname(origin(page)), path))
    place = places.get(meant) or places.get(f"{meant}/index.md")
    if place is None:
        return text
    relative = posixpath.relpath(place, posixpath.dirname(page) or ".")
    return f"[{text}]({relative}{hash_}{anchor})"
