"""Numbers in prose: how they are made, and that pages, records and the list of packetdrill's scripts say the same."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from made import packetdrill, records
from made.markers import NotMeasured, by_hand, made, unmarked
from made.pages import Page, pages
from made.records import Campaign, Record
from made.results import CommandFailed, refusal
from made.sources import source

#: Pages with many commands whose numbers no other page rests on.
LONG = [ROOT / "docs/tutorial.md", ROOT / "docs/figures.md"]


@pytest.mark.parametrize(
    "looked_at",
    [[path for path in pages() if path not in LONG], pytest.param(LONG, marks=pytest.mark.long)],
    ids=["most", "with many commands"],
)
def test_pages_are_as_made(looked_at: Sequence[Path]) -> None:
    """Every number, table, listing and picture of the pages is what its command gives; `make docs-numbers` writes them."""
    known = records.available()
    wrong: list[str] = []
    for path in looked_at:
        page = Page(path, known)
        found = page.made()
        wrong += [f"{page.name}:{each.line}: {each.text}" for each in [*found.failures, *found.differences]]
        wrong += [
            f"{picture.relative_to(ROOT)}: another picture is made"
            for picture, drawn in page.pictures.items()
            if picture.read_bytes() != drawn
        ]
    assert not wrong, "\n".join([*wrong, "make docs-numbers writes them"])


#: Pages with tables of decimals that are neither made nor given, and what they hold. To be made shorter, not longer.
BY_HAND = {
    "README.md": "versions in names of what is compared with",
    "docs/behaviour.md": "sizes of buffers and constants of algorithms",
    "docs/decisions/020-seeds-and-phase-effects.md": "what was measured when that was decided",
    "docs/differences.md": "constants and rules of others",
    "docs/exports.md": "addresses",
    "docs/linux.md": "versions of Linux",
    "docs/measures.md": "constants of ITU-T G.113",
    "docs/scenarios.md": "constants of distributions, ladders and rules",
    "docs/watch.md": "bounds of options",
    "studies/alizadeh/README.md": "the set-up",
    "studies/hanai/README.md": "the set-up",
    "studies/heist/README.md": "the set-up",
    "studies/kushwaha/README.md": "the set-up",
    "studies/l4s-tests/README.md": "the set-up",
    "studies/mareev/README.md": "the set-up",
    "studies/piotrowska/README.md": "the set-up",
    "studies/tsioliaridou/README.md": "the set-up",
}


def test_tables_of_numbers_are_made() -> None:
    """A table with decimals is made by its command or says where its numbers are from, but on the pages of the list."""
    found = set()
    for path in pages():
        text = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", "", by_hand(path.read_text(encoding="utf-8")))
        if re.search(r"^\|.*\d\.\d", text, flags=re.MULTILINE):
            found.add(str(path.relative_to(ROOT)))
    assert found <= set(BY_HAND), "make these tables (docs/write-a-number.md), or say in a marker `given` where they are from"
    assert set(BY_HAND) <= found, "these pages have no such table any more; take them off the list"


#: Sections of a study about what goes in. Their numbers are constants of papers and scenarios, as are those above all sections.
INPUTS = r"Set-up|Assumptions|Doubtful values|How ns-3's values were made|The stack"

#: Where numbers are no results: code, tables (which have a test of their own), headings, addresses, what a paper says in quotes,
#: numbers of sections and versions, how sure an interval is.
NO_RESULTS = re.compile(
    r"""(?mx) ^(?:[ ]{4}|\||\#).*$ | `[^`]*` | \]\([^)]*\) | <http[^>]*> | "[^"]*" | \b\d+\.\d+\.\d+
    | 95[ ]%\s(?:confidence\s)?interval | \b(?:RFCs?|[Ss]ections?|Linux|ns|kernel)[- ]\d+(?:\.\d+)*"""
)

#: What is hardly ever a constant: counts of a whole, shares, and decimals.
RESULT = re.compile(r"\b\d(?:[\d,.]*\d)?\s(?:%|of\s(?:(?:the|these|those|its|our|all)\s)?\d(?:[\d,]*\d)?)|\b\d+\.\d+")

AGREEMENT = re.compile(r"\b\d+\sof\s(?:(?:the|all)\s)?\d+\s(?:values|cells|claims)\b")


def typed_results(study: str) -> list[str]:
    """Each line of a study's text in which a result seems to be typed: it is neither made nor given."""

    def blank(text: re.Match[str]) -> str:
        return "\n" * text.group().count("\n")

    text = re.sub(rf"(?ms)(?:\A.*?|^\#+ (?:{INPUTS}).*?)(?=^\#\#+ |\Z)", blank, by_hand(study))
    text = NO_RESULTS.sub(blank, text)
    return [f"{text.count(chr(10), 0, each.start()) + 1}: {each.group()}" for each in RESULT.finditer(text)]


def test_results_of_studies_are_made() -> None:
    """In the text of a study no result is typed, and on no page how many values agree; CHANGELOG says what was."""
    found = []
    for path in pages():
        name, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
        if path.parent.parent == ROOT / "studies":
            found += [f"{name}:{each}" for each in typed_results(text)]
        elif path.name != "CHANGELOG.md":
            found += [f"{name}: {each.group()}" for each in AGREEMENT.finditer(by_hand(text))]
    assert not found, "\n".join([*found, "make these, or say in a marker `given` where they are from (docs/write-a-number.md)"])


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("With 10 ms, 109 of the 120 cells agree", ["3: 109 of the 120"]),
        ("and 61 of\n120 without; of stream 0, of 1", ["3: 61 of\n120"]),
        ("it loses 6.9 % of 1,500", ["3: 6.9 %"]),
        ("Jain's index is 0.41", ["3: 0.41"]),
        ("<!-- make: 1 -->0.41<!-- end --> and <!-- given: of a paper -->5 %<!-- end -->", []),
        ('section 4.2 of "a 5.5 ms" paper, RFC 9438, ns-3.30, Linux 6.1.192, the 95 % interval, `0.8`, 900 packets, 5 ms', []),
        ("    sojourn run --set 0.8\n| 0.5 |", []),
        ("## Assumptions\n\nat most 3 %\n\n## Claims\n\nand 4 %", ["9: 4 %"]),
    ],
)
def test_results_are_recognised(line: str, typed: list[str]) -> None:
    """Shares, counts of a whole and decimals are results; constants of the set-up, names and what has a marker are none."""
    assert typed_results(f"# A study of 0.5\n## Results\n{line}\n") == typed


def test_listings_are_made() -> None:
    """No page holds a copy of a file: a listing of which most lines are a file's is made of it, so that it cannot age."""
    files = [
        path
        for folder, kinds in (
            ("crates", ("*.rs", "*.h")),
            ("python", ("*.py", "*.h")),
            ("lab/src", ("*.ts",)),
            ("docs/hooks", ("*.py",)),
        )
        for kind in kinds
        for path in sorted((ROOT / folder).rglob(kind))
    ]
    known = {file: {line.strip() for line in file.read_text(encoding="utf-8").splitlines()} for file in files}
    found = []
    for path in pages():
        for block in re.findall(r"(?:^(?: {4}.*)?\n)+", by_hand(path.read_text(encoding="utf-8")), re.MULTILINE):
            # Short lines, and a few, are anybody's.
            lines = {line.strip() for line in block.splitlines() if len(line.strip()) >= 8}
            found += [
                f"{path.relative_to(ROOT)}: {block.strip().splitlines()[0]}: most of it is in {file.relative_to(ROOT)}"
                for file in files
                if len(lines) >= 8 and len(lines & known[file]) > 0.5 * len(lines)
            ]
    assert not found, "\n".join([*found, "code(source(...)) makes them (docs/write-a-number.md)"])


@pytest.mark.parametrize(
    ("items", "only", "shown"),
    [
        (["fn a"], (), "/// Says a.\n#[inline]\nfn a() {\n    a\n\n    b\n}"),
        (["mod a;", "list! {"], ("b",), "mod a;\n\nlist! {\n    ...\n    b::B,\n    ...\n}"),
        (["mod"], (), "mod a;"),
    ],
)
def test_items_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, items: list[str], only: tuple[str, ...], shown: str
) -> None:
    """An item has its comments and attributes, ends with its bracket, and may be shortened to the lines with some words."""
    monkeypatch.setattr("made.sources.ROOT", tmp_path)
    function = "/// Says a.\n#[inline]\nfn a() {\n    a\n\n    b\n}\n"
    text = f"mod a;\n\n{function}\nlist! {{\n    a::A,\n    bb::A,\n    b::B,\n    c::C,\n}}\n"
    (tmp_path / "file.rs").write_text(text)
    assert source("file.rs", *items, only=only) == shown
    assert source("file.rs") == text


def test_items_are_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A beginning that no line or several have is an error, not a guess."""
    monkeypatch.setattr("made.sources.ROOT", tmp_path)
    (tmp_path / "file.rs").write_text("fn a() {}\nfn ab() {}\n")
    for beginning, count in (("fn a", 2), ("fn c", 0)):
        with pytest.raises(ValueError, match=f"file.rs: {count} lines begin with '{beginning}'"):
            source("file.rs", beginning)


def test_refusals_are_of_bad_input() -> None:
    """A command that succeeds has no error to be shown; one that bad input ends is shown with its line."""
    assert refusal("sojourn describe nothing").startswith("\n    $ sojourn describe nothing\n    sojourn: unknown name")
    with pytest.raises(CommandFailed, match="sojourn list tcp ends with status 0"):
        refusal("sojourn list tcp")


def test_values_within_lines_and_as_lines() -> None:
    """A value stands within its line, or as lines of its own; what a page names holds for the rest of it."""
    page = "<!-- let: n = 2 -->\nthere are <!-- make: n + one -->4<!-- end --> of it\n<!-- make: 'a\\nb' -->\n<!-- end -->\nrest"
    found = made(page, {"one": 1})
    assert unmarked(found.text) == "\nthere are 3 of it\n\na\nb\n\nrest"
    assert [(each.line, each.text) for each in found.differences] == [
        (2, "'4' stands there, '3' is made"),
        (3, "'' stands there, 'a' is made"),
    ]
    again = made(found.text, {"one": 1})
    assert (again.text, again.differences, again.failures) == (found.text, [], [])


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("a\n<!-- true: 1 > 2 -->", "2: 1 > 2: ValueError: no longer true; the sentence that rests on it is to be changed"),
        ("<!-- make: unknown -->5<!-- end -->", "1: unknown: NameError: name 'unknown' is not defined"),
        ("<!-- make: 1 -->1", "1: no <!-- end --> before the next marker"),
        ("\n<!-- make: 1 -->1 <!-- make: 2 -->2<!-- end -->", "2: no <!-- end --> before the next marker"),
    ],
)
def test_what_cannot_be_made_is_told(page: str, problem: str) -> None:
    """A condition that is no longer true, an error and a marker without end are told with their line, and the page stays."""
    found = made(page, {})
    assert [f"{each.line}: {each.text}" for each in found.failures][:1] == [problem]
    assert found.text == page


def test_numbers_by_hand_are_left() -> None:
    """What neither is made nor given remains, on its lines."""
    page = "<!-- given: of a paper\n-->| 1.5 |<!-- end -->\n| 2.5 | <!-- make: 3 -->3.5<!-- end -->\n"
    assert by_hand(page) == "\n\n| 2.5 | \n"


def test_examples_in_code_are_left() -> None:
    """Markers in code are examples, which are neither carried out nor taken away."""
    page = "    <!-- make: 3 -->4<!-- end -->\n"
    assert (made(page, {}).text, unmarked(page), by_hand(page)) == (page, page, page)


def test_what_is_not_measured_waits() -> None:
    """What needs runs that nobody has made is left as it stands, with all that needs it, and is no failure."""

    def measured() -> int:
        raise NotMeasured("not yet")

    page = "<!-- let: n = measured() -->\n<!-- make: n + 1 -->4<!-- end --> <!-- make: other -->5<!-- end -->"
    found = made(page, {"measured": measured})
    assert found.text == page
    assert [(each.line, each.text) for each in found.waiting] == [
        (1, "n = measured(): NotMeasured: not yet"),
        (2, "n + 1: NameError: name 'n' is not defined"),
    ]
    assert [each.text for each in found.failures] == ["other: NameError: name 'other' is not defined"]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "campaigns.toml").write_text('main = { command = "sojourn run x.toml" }\n')
    return Record(folder)


def answered(record: Record, rows: list[tuple[Any, ...]], made_by: tuple[str, str, str]) -> Campaign:
    """The campaign of a record that was written with an answer."""

    class Measured(Campaign):
        identities = [made_by]  # noqa: RUF012

    measured = Measured(record, "main", "sojourn run x.toml", record.folder, {"select 1": rows})
    record.campaigns["main"] = measured
    record.write()
    return Record(record.folder).campaigns["main"]


def test_record_answers(record: Record) -> None:
    """What was asked of results is answered from the record later; what was not, or of another command, says what to do."""
    kept = answered(record, [("a", 0.1, None)], ("simulator", "1", "00"))
    assert kept.rows("select\n  1") == [("a", 0.1, None)]
    assert kept.made_by == "simulator 1 (00)"
    assert kept.is_stale
    with pytest.raises(NotMeasured, match="make docs-numbers STUDIES=study:main"):
        kept.rows("select 2")
    kept.command = "sojourn run y.toml"
    with pytest.raises(NotMeasured, match="another command"):
        kept.rows("select 1")


def test_campaign_options_are_quoted(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command of a campaign is divided as a shell does: a value in quotes may have spaces."""
    given: list[str] = []

    def run(arguments: list[str]) -> None:
        given.extend(arguments)
        raise CommandFailed("not run here")

    monkeypatch.setattr(records, "run", run)
    campaign = Campaign(record, "main", "sojourn run x.toml --set \"duration='1 s'\"")
    with pytest.raises(CommandFailed):
        campaign.make(record.folder)
    assert given[:-1] == ["run", "x.toml", "--set", "duration='1 s'", "--out"]


def test_packetdrill_counts() -> None:
    """The printed counts are those of the list, in which no script of a collection stands twice."""
    scripts, passed, failed, others = packetdrill.together()
    assert scripts == passed + failed + others
    assert packetdrill.twice() == []


def test_pictures_name_no_machine() -> None:
    """The commands below a picture are those that a reader would type; they name no folder of whoever made it."""
    for picture in sorted((ROOT / "docs" / "images").glob("*.svg")):
        drawn = picture.read_text(encoding="utf-8")
        assert not re.search(r"--out /|target/made|plot /", drawn), picture.name
