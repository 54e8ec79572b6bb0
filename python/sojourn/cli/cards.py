"""Report cards on the terminal."""

import json as as_json
from collections import Counter
from collections.abc import Mapping, Sequence

from rich.text import Text

from sojourn.backends.identity import Identity
from sojourn.campaign import CampaignOutcome, Plan
from sojourn.cli.terminal import Terminal
from sojourn.colours import PALETTE
from sojourn.suite import words
from sojourn.suite.card import Card, Row
from sojourn.suite.judging import Verdict
from sojourn.table import Column, Content, Table, label, text
from sojourn.table import Row as Shown

#: Where what a terminal has no room for is seen.
EVERYTHING = "see all with --json or on the page"

#: How each verdict looks, which its word says: not by red and green, which many readers cannot tell apart.
STYLES = {Verdict.FAIL: f"bold {PALETTE[1]}", Verdict.CONCERN: PALETTE[1], Verdict.OPEN: "dim", Verdict.PASS: PALETTE[0]}


class Looking(Terminal):
    """Shows the progress of each question, and nothing of how many runs it has."""

    def planned(self, plan: Plan, _stale: Counter[Identity], /) -> None:
        self.plan = plan

    def ended(self, _outcome: CampaignOutcome, /) -> None:
        """See ``Observer.ended``: the card has the failures."""


def json(cards: Sequence[Card]) -> str:
    """A card as JSON, or several as a list."""
    if len(cards) == 1:
        return cards[0].text()
    return as_json.dumps([card.model_dump(mode="json") for card in cards], indent=2, ensure_ascii=False) + "\n"


def tables(cards: Sequence[Card]) -> list[Table]:
    """A card as a table, or several side by side."""
    return [_card(cards[0])] if len(cards) == 1 else [_side_by_side(cards)]


def _card(card: Card) -> Table:
    columns = [
        label("id"),
        text("question", rank=2),
        label("section", rank=4),
        Column("verdict", ("verdict",), lambda row: _coloured(row["verdict"]), Content.LABEL, keep=True),
        text("measured", card.candidate, keep=True),
        text("comparators", rank=1),
        text("where", rank=3),
    ]
    return Table("card", words.title(card), columns, [_row(row) for row in card.rows], notes=_notes(card), most_rows=None)


def _side_by_side(cards: Sequence[Card]) -> Table:
    asked = {row.id: row.question for card in cards for row in card.rows}
    verdicts = {card.candidate: {row.id: row for row in card.rows} for card in cards}
    rows: list[Mapping[str, object]] = [
        {
            "id": asked_id,
            "question": question,
            **{name: of[asked_id].verdict if asked_id in of else None for name, of in verdicts.items()},
            **{f"{name} measured": _row(of[asked_id])["measured"] if asked_id in of else "" for name, of in verdicts.items()},
        }
        for asked_id, question in asked.items()
    ]

    def verdict_of(name: str) -> Column:
        return Column(name, (name,), lambda row: _coloured(row[name]), Content.LABEL, keep=True)

    def measured_of(name: str) -> Column:
        return text(f"{name} measured", rank=1)

    columns = [label("id"), text("question", rank=2)]
    for name in verdicts:
        columns += [verdict_of(name), measured_of(name)]
    notes = [f"{card.candidate}: {words.tally(card)}." for card in cards]
    return Table("cards", f"{cards[0].source}: {' | '.join(verdicts)}", columns, rows, notes=notes, most_rows=None)


def _notes(card: Card) -> list[str]:
    notes = [words.reason(row) for row in sorted(card.rows, key=_severity) if row.verdict is not Verdict.PASS]
    notes += [f"{row.id}: {row.error}" for row in card.rows if row.error]
    notes.append(f"{words.tally(card)}.")
    notes += [f"{verdict}: {words.MEANING[verdict]}." for verdict, number in card.tally().items() if number]
    by_reason: dict[str, list[str]] = {}
    for each in card.left_out:
        by_reason.setdefault(each.why, []).append(each.id)
    notes += [f"Not asked, {why}: {', '.join(ids)}." for why, ids in by_reason.items()]
    if card.asked:
        notes.append(f"For the author to answer: {'; '.join(f'{each.question} ({each.section})' for each in card.asked)}")
    return notes


def _severity(row: Row) -> int:
    """The place of a row among verdicts, the worst first."""
    return list(Verdict).index(row.verdict)


def _coloured(verdict: Verdict | None) -> Text:
    return Text("-") if verdict is None else Text(str(verdict), STYLES[verdict])


def _row(row: Row) -> Shown:
    found = row.deciding
    shown = {"id": row.id, "question": row.question, "section": row.section, "verdict": row.verdict}
    if found is None:
        return {**shown, "measured": "its run failed", "comparators": "", "where": ""}
    measured = f"{words.what(row)} {words.number(row, found.candidate)}"
    if row.values:
        measured += f": {words.shown_values(row)}"
    return {**shown, "measured": measured, "comparators": words.comparators(row, found), "where": words.where(found)}
