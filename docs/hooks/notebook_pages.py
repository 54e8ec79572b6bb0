"""Pages of the site that are notebooks of examples/notebooks, carried out when the site is built, with their pictures."""

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

from made.results import ROOT, kept

#: The folder of pages in the site.
FOLDER = "notebooks"

NOTEBOOKS = sorted((ROOT / "examples" / FOLDER).glob("*.ipynb"))

#: Runs before the first cell: Altair's own way of showing charts loads programs from elsewhere.
BEFORE = "import altair\naltair.renderers.enable('svg')"

#: Seconds that a cell may take.
TIMEOUT = 300


def places() -> list[str]:
    """Where the pages are in the site."""
    return [f"{FOLDER}/{path.stem}.md" for path in NOTEBOOKS]


def carried_out(path: Path) -> Any:
    """A notebook with the outputs of its cells, as they were made once for this state of the code.

    Raises:
        CellExecutionError: a cell failed.
    """
    return nbformat.reads(kept(path.name, lambda: nbformat.writes(executed(path))), as_version=4)


def pages() -> dict[str, str]:
    """The text of each page and of each picture, by their places."""
    with ThreadPoolExecutor() as several:
        found = several.map(carried_out, NOTEBOOKS)
        return {place: text for path, notebook in zip(NOTEBOOKS, found, strict=True) for place, text in page(path, notebook)}


def executed(path: Path) -> Any:
    """A notebook with the outputs of its cells, which are carried out beside the examples, in a folder that is then removed.

    Raises:
        CellExecutionError: a cell failed.
    """
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(BEFORE))
    with TemporaryDirectory() as folder:
        for scenario in (ROOT / "examples").glob("*.toml"):
            shutil.copy(scenario, folder)
        where = Path(folder) / FOLDER
        where.mkdir()
        client = NotebookClient(notebook, timeout=TIMEOUT, kernel_name="python3", resources={"metadata": {"path": str(where)}})
        # The kernel says there how it is reached; what cells write comes as messages.
        client.execute(stderr=DEVNULL)
    del notebook.cells[0]
    return notebook


def page(path: Path, notebook: Any) -> list[tuple[str, str]]:
    """The page of a notebook that was carried out, and its pictures, each with its place."""
    parts: list[str] = []
    pictures: list[tuple[str, str]] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            if "image/svg+xml" in (data := output.get("data", {})):
                name = f"{path.stem}-{len(pictures) + 1}.svg"
                drawn = data["image/svg+xml"]
                pictures.append((f"{FOLDER}/{name}", drawn))
                parts.append(f'<p><img alt="{_title(drawn)}" src="{name}"></p>')
            else:
                parts.append(_text(output))
    own = f"This page is `examples/{FOLDER}/{path.name}`; its outputs are made when the site is built."
    return [(f"{FOLDER}/{path.stem}.md", "\n\n".join([*parts, own, ""])), *pictures]


def _title(picture: str) -> str:
    """What a picture shows, as its own labels say: its title, or else what its axes are."""
    titles = re.findall(r"Title text '([^']*)'", picture) or re.findall(r"-axis titled '([^']*)'", picture)
    return f"Chart: {', '.join(dict.fromkeys(titles))}"


def _text(output: Any) -> str:
    """An output that is no picture: HTML, which may be wide, or text."""
    data = output.get("data", {})
    if "text/html" in data:
        # Without blank lines, which would end a block of HTML in Markdown; nothing is left of a bar of progress.
        html = re.sub(r"\n\s*\n", "\n", "".join(data["text/html"]))
        return html and f'<div role="group" aria-label="Output" tabindex="0" style="overflow-x: auto">\n{html}\n</div>'
    said = "".join(output["text"] if "text" in output else data.get("text/plain", ""))
    return f'<pre style="white-space: pre-wrap">{escape(said)}</pre>' if said.strip() else ""
