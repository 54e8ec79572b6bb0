"""The report cards of docs/cards.md: one question of each is asked again, and has the same verdict."""

import hashlib
from pathlib import Path

import pytest

import make_cards
import sojourn
from made.cards import DEPLOYED, MODULES, Module, recorded
from made.results import ROOT
from sojourn.suite import library

#: A question of each suite whose runs are short.
ASKED = {"rfc9743": "more-capacity", "rfc7928": "friendly"}

#: Those that `make test` asks; `make test-long` asks all.
QUICK = {"bbr", "droptail"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where runs are kept: candidates of one suite share those of its comparators."""
    return tmp_path_factory.mktemp("cards")


@pytest.mark.parametrize(
    ("suite", "candidate"),
    [
        pytest.param(suite, name, marks=[] if name in QUICK else pytest.mark.long)
        for suite, names in DEPLOYED.items()
        for name in names
    ],
)
def test_a_question_has_the_same_verdict(suite: str, candidate: str, kept: Path) -> None:
    """What the page says of a candidate is what runs give today."""
    loaded = library.load(suite)
    asked = loaded.model_copy(update={"questions": [each for each in loaded.questions if each.id == ASKED[suite]]})
    (said,) = (each for each in recorded() if (each.suite, each.candidate, each.question) == (suite, candidate, ASKED[suite]))
    found = sojourn.evaluate(candidate, str(loaded.kind), asked, out=kept / suite)
    assert found["verdict"].to_list() == [said.verdict]


def test_each_card_says_what_made_it() -> None:
    """All questions of a card are of one engine and commit, and modules of Linux have theirs."""
    made = {(each.engine, each.commit) for each in recorded() if each.candidate not in MODULES}
    assert len(made) == 1
    assert all(len(each.commit) == 12 and int(each.commit, 16) for each in recorded())
    assert {each.candidate for each in recorded()} - MODULES.keys() == {name for names in DEPLOYED.values() for name in names}


def test_modules_are_the_files_that_they_were(tmp_path: Path) -> None:
    """The card of a module is made from no other file than the page says."""
    with pytest.raises(ValueError, match=r"has no tcp_copa.c; it is in https://github.com/"):
        make_cards.modules(tmp_path)
    (tmp_path / "tcp_copa.c").write_text("int copa;\n")
    with pytest.raises(ValueError, match=r"tcp_copa.c: is not that of commit 15653f0671e2"):
        make_cards.modules(tmp_path)


def test_modules_show_what_they_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is asked of its inner state has the very file beside it that Sojourn keeps."""
    module = tmp_path / "tcp_mine.c"
    module.write_text("int mine;\n")
    digest = hashlib.sha256(module.read_bytes()).hexdigest()
    shows = MODULES["tcp_bbr.c"].shows
    assert shows is not None
    monkeypatch.setattr(make_cards, "MODULES", {module.name: Module("https://example.com", "1", digest, "bbr-draft", shows)})
    beside = tmp_path / Path(shows).name
    for wrong in (None, "/* another */\n"):
        if wrong is not None:
            beside.write_text(wrong)
        with pytest.raises(ValueError, match=r"tcp_mine.c: needs suites/bbr-draft/tcp_bbr.shows.c beside it"):
            make_cards.modules(tmp_path)
    beside.write_bytes((ROOT / shows).read_bytes())
    assert make_cards.modules(tmp_path) == [module]
