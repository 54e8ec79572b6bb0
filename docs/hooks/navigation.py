"""The navigation of the site, made from the pages that there are, so that a new page or study needs no entry anywhere."""

from collections.abc import Iterable, Mapping, Sequence

#: Pages before all sections.
FIRST = ("index.md", "tutorial.md")

#: Sections in their order, and the pages that stand first in each.
SECTIONS: Mapping[str, Sequence[str]] = {
    "Guide": (
        "scenarios.md",
        "python.md",
        "results.md",
        "measures.md",
        "figures.md",
        "report.md",
        "evaluate.md",
        "verdicts.md",
        "search.md",
        "range.md",
        "learning.md",
        "learning-a-controller.md",
        "lab.md",
    ),
    "Algorithms": ("catalogue.md", "behaviour.md", "cards.md", "atlas.md", "atlas-map.md", "differences.md"),
    "Notebooks": ("notebooks/home-line.md",),
    "Studies": (),
    "Extending": ("your-own-algorithm.md", "use-the-crates.md", "add-an-algorithm.md"),
    "Development": (
        "contributing.md",
        "write-a-number.md",
        "architecture.md",
        "performance.md",
        "decisions/index.md",
        "stability.md",
        "changelog.md",
    ),
}


def navigation(pages: Iterable[str]) -> list[str | dict[str, list[str]]]:
    """What mkdocs calls ``nav``. Studies, pages called ``add-a...`` and pages of no section have their places by their names."""
    named = {page: section for section, listed in SECTIONS.items() for page in listed}
    by_section: dict[str, list[str]] = {section: [] for section in SECTIONS}
    for page in sorted(set(pages).difference(FIRST)):
        by_section[named.get(page) or _section(page)].append(page)
    ordered = {section: sorted(found, key=lambda page: _place(section, page)) for section, found in by_section.items()}
    return [*FIRST, *({section: found} for section, found in ordered.items())]


def _section(page: str) -> str:
    if page.startswith("studies/"):
        return "Studies"
    if page.startswith("notebooks/"):
        return "Notebooks"
    return "Extending" if page.startswith("add-a") else "Guide"


def _place(section: str, page: str) -> tuple[int, str]:
    listed = SECTIONS[section]
    return (listed.index(page) if page in listed else len(listed), page)
