"""A card in words: what was measured, in the units that people read. The terminal and the page say the same."""

from sojourn import backends, digits
from sojourn.metrics import METRICS
from sojourn.suite.card import Card, Found, Interval, Row
from sojourn.suite.judging import Verdict


def tally(card: Card) -> str:
    """How many questions have each verdict."""
    return ", ".join(f"{number} {verdict}" for verdict, number in card.tally().items() if number) or "nothing was asked"


def title(card: Card) -> str:
    """What a card is of."""
    how = " (quick)" if card.quick else ""
    drawn = "" if card.draw is None else f", conditions drawn by seed {card.draw}"
    return f"{card.candidate} by {card.source}{how}{drawn}, {_backend(card)}"


def _backend(card: Card) -> str:
    """What made the runs, and how many questions it can decide unless that is all."""
    if card.backend == backends.DEFAULT:
        return card.backend
    return f"{card.backend}, which can decide {len(card.rows)} of {len(card.rows) + card.undecidable} questions"


def what(row: Row) -> str:
    """What is measured."""
    if row.metric is None:
        return "holds on"
    metric = METRICS[row.metric]
    of = f" of {row.group}" if row.group is not None else ""
    return f"harm in {metric.title}{of}" if row.rule == "harm" else f"{metric.title}{of}"


def number(row: Row, found: Interval | None) -> str:
    """A measure with its interval: half of it, or its ends where a bound cuts one side off."""
    if found is None:
        return "no value"
    if row.metric is None:
        return f"{found.mean * row.seeds:.0f} of {row.seeds} seeds"
    metric = METRICS[row.metric]
    harms = row.rule == "harm"
    factor, unit = (1.0, "") if harms else (metric.factor, metric.shown_unit)

    def plain(value: float) -> str:
        return f"{value:.2f}" if harms else metric.number(value / factor)

    shown = plain(factor * found.mean)
    if found.low is not None and found.high is not None:
        ends = factor * found.mean, factor * found.low, factor * found.high
        shown = " ".join(digits.with_interval(*ends, plain))
    return f"{shown} {unit}".rstrip()


def where(found: Found) -> str:
    """The condition, and how many seeds would decide it if it is not decided."""
    condition = ", ".join(f"{axis}={value}" for axis, value in found.condition.items())
    needed = f"{found.seeds_needed} seeds would decide" if found.seeds_needed is not None else ""
    return "; ".join(filter(None, (condition, needed)))


def comparators(row: Row, found: Found) -> str:
    """What was measured of each comparator."""
    return ", ".join(f"{name} {number(row, each)}" for name, each in found.comparators.items())


def reason(row: Row) -> str:
    """What to know of a question whose verdict is not a pass: where that was seen, and how the standard was read."""
    found = row.deciding
    place = "" if found is None else where(found)
    reading = "" if row.reading is None else f" Read so: {row.reading}."
    return f"{row.verdict}: {row.id}{f' ({place})' if place else ''}: {row.question}{reading}"


def shown_values(row: Row) -> str:
    """What a query returned: of numbers the range over seeds."""
    said = []
    for name, listed in row.values.items():
        numbers = [each for each in listed if not isinstance(each, str)]
        low, high = (f"{min(numbers):.4g}", f"{max(numbers):.4g}") if numbers else ("", "")
        text = ", ".join(sorted({str(each) for each in listed})) if not numbers else low if low == high else f"{low} to {high}"
        said.append(f"{name} {text}")
    return ", ".join(said)


#: What a verdict means, for people.
MEANING = {
    Verdict.FAIL: "breaks what the standard says it must keep, on most seeds",
    Verdict.CONCERN: "is worse than every comparator, beyond the interval and what counts as equal",
    Verdict.OPEN: "cannot be said with so many seeds",
    Verdict.PASS: "is no worse than a comparator",
}
