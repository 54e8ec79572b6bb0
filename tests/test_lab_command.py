"""`sojourn lab` opens the page that `make lab` builds and wheels have."""

import json
import re
import webbrowser
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from conftest import Capture, complaint
from laboratory import MISSING, PAGE
from sojourn.cli import lab
from sojourn.cli.commands import status

built = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser is told to open."""
    found: list[str] = []

    def open_one(address: str) -> bool:
        found.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", open_one)
    return found


@built
def test_page_is_small() -> None:
    """The page has at most 1.3 MB."""
    assert PAGE.stat().st_size <= 1_300_000


def path_of(address: str) -> Path:
    return Path(unquote(urlparse(address).path))


@built
def test_page_is_opened(opened: list[str], capsys: Capture) -> None:
    """Without a file the page of the package is opened, which is the one that was built; its address is printed."""
    assert status(["lab"]) == 0
    assert capsys.readouterr().out.split() == opened
    assert path_of(opened[0]) == lab.PAGE
    assert lab.PAGE.read_bytes() == PAGE.read_bytes()


@built
def test_scenario_is_in_the_page(opened: list[str], scenario_file: Callable[..., Path], capsys: Capture) -> None:
    """With a file the page has its text, whatever is in that; nothing is opened if that is not wanted."""
    file = scenario_file(('name = "small"', 'name = "small"\ndescription = "</script><script>alert(1)</script>"'))
    assert status(["lab", str(file), "--no-open"]) == 0
    assert opened == []
    page = path_of(capsys.readouterr().out.strip()).read_text(encoding="utf-8")
    given = re.search(r'<script type="application/json" id="given">(.*?)</script>', page)
    assert given is not None
    assert json.loads(given[1]) == {"name": "small.toml", "text": file.read_text(encoding="utf-8")}
    assert len(page) == len(PAGE.read_text(encoding="utf-8")) + len(given[1])


def test_page_that_is_not_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, opened: list[str], capsys: Capture) -> None:
    """Where there is no page one line says what to do."""
    monkeypatch.setattr(lab, "PAGE", tmp_path / "laboratory.html")
    assert status(["lab"]) == 2
    assert "in Sojourn's source tree, run make lab" in complaint(capsys)
    assert opened == []


@built
def test_bad_files(opened: list[str], tmp_path: Path, capsys: Capture) -> None:
    """What is wrong with a file is told in one line before a page is opened."""
    assert status(["lab", "missing.toml"]) == 2
    assert complaint(capsys) == "sojourn: missing.toml: No such file or directory\n"
    (tmp_path / "bad.toml").write_text('name = "bad"\nduration = 7\n', encoding="utf-8")
    assert status(["lab", str(tmp_path / "bad.toml")]) == 2
    assert "bad.toml: " in complaint(capsys)
    assert opened == []


@built
def test_no_browser(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Where there is no browser the address is printed all the same."""
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert status(["lab"]) == 2
    captured = capsys.readouterr()
    assert captured.out.strip() == lab.PAGE.as_uri()
    assert captured.err == "sojourn: no browser was found; open the address in one\n"
