"""What the site has besides docs/: pages that are files from elsewhere in the repository, or come from the code and results."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Link, Navigation
from mkdocs.structure.pages import Page

import algorithm_pages
import atlas_page
import card_pages
import catalogue_page
import navigation
import notebook_pages
import scenes
import study_pages
from made.markers import unmarked
from origins import ELSEWHERE, relinked
from sojourn import catalogue
from sojourn.study import library

ROOT = Path(__file__).parents[2]

CATALOGUE, DECISIONS = "catalogue.md", "decisions/index.md"

#: The laboratory, if `make lab` has built it: one file, which is part of the site as it is.
LABORATORY = "laboratory.html"

#: The site's own style, and what lets its search work in a folder.
ASSETS = Path(__file__).parent / "site"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Makes the navigation."""
    docs = (path.name for path in Path(config.docs_dir).glob("*.md"))
    config.nav = navigation.navigation(
        [
            *(*docs, *ELSEWHERE, CATALOGUE, DECISIONS, atlas_page.PLACE),
            *notebook_pages.places(),
            *map(_page_of, library.available()),
        ]
    )
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are not in docs/."""
    results = ROOT / config.extra["results"]
    made = {page: (ROOT / path).read_text(encoding="utf-8") for page, path in ELSEWHERE.items()}
    has_laboratory = (ROOT / "lab" / "dist" / LABORATORY).is_file()
    known = catalogue.load()
    made[CATALOGUE] = catalogue_page.page(known)
    made |= algorithm_pages.pages(known, has_laboratory=has_laboratory)
    made[DECISIONS] = _decisions(files)
    made |= card_pages.pages()
    made |= atlas_page.files(has_laboratory=has_laboratory)
    made |= notebook_pages.pages()
    made |= {_page_of(name): study_pages.page(name, results) for name in library.available()}
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    for path in sorted(ASSETS.iterdir()):
        files.append(File.generated(config, f"{ASSETS.name}/{path.name}", content=path.read_text(encoding="utf-8")))
    if (built := ROOT / "lab" / "dist" / LABORATORY).is_file():
        files.append(File.generated(config, LABORATORY, content=built.read_text(encoding="utf-8")))
    return files


def on_nav(nav: Navigation, files: Files, **_: MkDocsConfig) -> Navigation:
    """Names the laboratory, if it is there, after the first page."""
    if LABORATORY in files.src_uris:
        nav.items.insert(1, Link("Lab", LABORATORY))
    return nav


def on_page_markdown(markdown: str, page: Page, files: Files, **_: MkDocsConfig) -> str:
    """Takes away what says how a page's numbers are made, and makes its links lead to pages of the site."""
    places = [file.src_uri for file in files]
    laboratory = page.file.url.count("/") * "../" + LABORATORY if LABORATORY in places else None
    return relinked(unmarked(scenes.framed(markdown, laboratory)), page.file.src_uri, places)


def on_page_content(html: str, **_: MkDocsConfig) -> str:
    """Makes the empty corner of a table a cell, since a heading has to have a text."""
    return re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)


def on_post_page(output: str, **_: MkDocsConfig) -> str:
    """Names the theme's search, which is a dialog without a name."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def _page_of(study: str) -> str:
    return f"studies/{study}.md"


def _decisions(files: Files) -> str:
    """A list of the decisions, by their first lines."""
    pages = sorted(file.src_uri for file in files.documentation_pages() if file.src_uri.startswith("decisions/"))
    titles = {page: files.src_uris[page].content_string.partition("\n")[0].removeprefix("# ") for page in pages}
    listed = "\n".join(f"- [{title}]({page.removeprefix('decisions/')})" for page, title in titles.items())
    return f"# Decisions\n\nDesign decisions and the reasons for them.\n\n{listed}\n"
