"""Report cards on the terminal."""

import json as as_json
from collections import Counter
from collections.abc import Mapping, Sequence

from rich.text import Text

from sojourn import digits
from sojourn.backends.identity import Identity
from sojourn.campaign import CampaignOutcome, Plan
from sojourn.cli.terminal import Terminal
from sojourn.metrics import METRICS
from sojourn.suite.card import Card, Found, Interval, Row
from sojourn.suite.judging import Verdict
from sojourn.table import Column, Content, Table, label, text
from sojourn.table import Row as Shown

#: How each verdict looks.
STYLES = {Verdict.FAIL: "bold red", Verdict.CONCERN: "red", Verdict.OPEN: "yellow", Verdict.PASS: "green"}


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
        text("question", keep=True),
        label("section", rank=2),
        Column("verdict", ("verdict",), lambda row: _coloured(row["verdict"]), Content.LABEL, keep=True),
        text("measured", card.candidate, keep=True),
        text("comparators", rank=1),
        text("where", rank=1),
    ]
    return Table("card", _title(card), columns, [_row(row) for row in card.rows], notes=_notes(card), most_rows=None)


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
        return text(f"{name} measured", "measured", rank=1)

    columns = [label("id"), text("question", keep=True)]
    for name in verdicts:
        columns += [verdict_of(name), measured_of(name)]
    notes = [f"{card.candidate}: {_tally(card)}." for card in cards]
    return Table("cards", f"{cards[0].source}: {' | '.join(verdicts)}", columns, rows, notes=notes, most_rows=None)


def _title(card: Card) -> str:
    how = " (quick)" if card.quick else ""
    drawn = "" if card.draw is None else f", conditions drawn by seed {card.draw}"
    return f"{card.candidate} by {card.source}{how}{drawn}, {card.backend}"


def _notes(card: Card) -> list[str]:
    notes = [f"{_tally(card)}."]
    notes += [f"{row.id}: {row.error}" for row in card.rows if row.error]
    by_reason: dict[str, list[str]] = {}
    for each in card.left_out:
        by_reason.setdefault(each.why, []).append(each.id)
    notes += [f"Left out, {why}: {', '.join(ids)}." for why, ids in by_reason.items()]
    if card.asked:
        notes.append(f"For the author to answer: {'; '.join(f'{each.question} ({each.section})' for each in card.asked)}")
    return notes


def _tally(card: Card) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in card.tally().items() if number) or "nothing was asked"


def _coloured(verdict: Verdict | None) -> Text:
    return Text("-") if verdict is None else Text(str(verdict), STYLES[verdict])


def deciding(row: Row) -> Found | None:
    """The finding that decides a question: of its verdict the one that is furthest beyond what is allowed."""
    those = [each for each in row.findings if each.verdict is row.verdict]
    return max(those, key=lambda each: -1e300 if each.excess is None else each.excess.mean - each.allowed, default=None)


def _row(row: Row) -> Shown:
    found = deciding(row)
    shown = {"id": row.id, "question": row.question, "section": row.section, "verdict": row.verdict}
    if found is None:
        return {**shown, "measured": "its run failed", "comparators": "", "where": ""}
    where = ", ".join(f"{axis}={value}" for axis, value in found.condition.items())
    if found.seeds_needed is not None:
        where = f"{where + '; ' if where else ''}{found.seeds_needed} seeds would decide"
    others = ", ".join(f"{name} {number(row, each)}" for name, each in found.comparators.items())
    return {**shown, "measured": f"{what(row)} {number(row, found.candidate)}", "comparators": others, "where": where}


def what(row: Row) -> str:
    """What is measured, in words."""
    if row.metric is None:
        return "holds on"
    metric = METRICS[row.metric]
    return f"harm in {metric.title}" if row.rule == "harm" else metric.title


def number(row: Row, found: Interval | None) -> str:
    """A measure with half of its interval, in the unit that people read."""
    if found is None:
        return "no value"
    if row.metric is None:
        return f"{found.mean * row.seeds:.0f} of {row.seeds} seeds"
    if row.rule == "harm":
        half = None if found.high is None else found.high - found.mean
        shown = None if half is None else digits.of_interval(found.mean, half=half)
        return " ± ".join(shown) if shown else f"{found.mean:.2f}"
    metric = METRICS[row.metric]
    unit = f" {metric.shown_unit}" if metric.shown_unit else ""
    if found.high is None:
        return f"{metric.number(found.mean)}{unit}"
    return " ± ".join(metric.numbers(found.mean, half=found.high - found.mean)) + unit
