"""The notebooks in examples/notebooks run, and are pages of the site."""

import json
import re
from pathlib import Path

import pytest

import notebook_pages


@pytest.mark.parametrize("path", notebook_pages.NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path) -> None:
    """Every cell runs; results are shown once, errors that are meant are caught, and pictures become files of the site."""
    notebook = notebook_pages.carried_out(path)
    (place, text), *pictures = notebook_pages.page(path, notebook)
    assert place in notebook_pages.places()
    assert pictures
    for name, drawn in pictures:
        assert re.search(rf'<img alt="Chart: [^"]+" src="{re.escape(Path(name).name)}">', text)
        assert drawn.lstrip().startswith("<svg")
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in shown if output.output_type == "error" or output.get("name") == "stderr"], shown
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert sum(bool(output.get("data", {}).get("text/html")) for output in cell.outputs) <= 1, cell.source
    # Nothing is loaded from elsewhere.
    assert not re.findall(r"<(?:script|link)|src=\"http", text)


def test_notebooks_are_kept_without_outputs() -> None:
    """A notebook in the repository has no outputs, which would differ from what the present engine says."""
    assert len(notebook_pages.NOTEBOOKS) == 3
    for path in notebook_pages.NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")], path
