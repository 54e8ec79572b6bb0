"""A card: the answers of one candidate to the questions of a suite, and what was left out.

Its JSON has the schema of these models.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from sojourn.statistics import Estimate
from sojourn.suite.design import Asked, Question, Suite
from sojourn.suite.judging import Answer, Finding, Verdict, worst

#: Raised when the meaning of a key changes.
FORMAT = 1


def file_of(candidate: str) -> str:
    """What files about a candidate are called: a name that is a plain file's, whatever its parameters."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", candidate)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Interval(_Part):
    """A mean over seeds, with its 95 % interval where there is one, within the bounds of what is measured."""

    mean: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, found: Estimate | None) -> Self | None:
        """An estimate as a card has it."""
        return None if found is None else cls(mean=found.mean, low=found.low, high=found.high)


class Found(_Part):
    """What was measured under one condition; of a query, over all conditions."""

    condition: dict[str, str] = Field(description="The values of the question's axes.")
    verdict: Verdict
    candidate: Interval | None = Field(description="Its measure or harm, or the share of seeds on which the query holds.")
    comparators: dict[str, Interval | None]
    held_to: str | None = Field(description="The comparator with the worst mean, which the candidate is held to.")
    excess: Interval | None = Field(
        description="By how much the candidate is worse than that comparator; the interval is for all conditions together."
    )
    allowed: float = Field(description="How much worse it may be.")
    seeds_needed: int | None = Field(description="Seeds that would decide it, where it is not decided.")

    @classmethod
    def of(cls, found: Finding) -> Self:
        """A finding as a card has it."""
        return cls(
            condition=dict(found.condition),
            verdict=found.verdict,
            candidate=Interval.of(found.candidate),
            comparators={name: Interval.of(each) for name, each in found.comparators.items()},
            held_to=found.held_to,
            excess=Interval.of(found.excess),
            allowed=found.allowed,
            seeds_needed=found.seeds_needed,
        )


class Row(_Part):
    """A question and its answer."""

    id: str
    question: str
    section: str = Field(description="Where the standard asks it.")
    reading: str | None = Field(description="What was taken for words of the standard, and why.")
    rule: Literal["harm", "own", "must", "should"]
    metric: str | None = Field(description="What is compared; none of a query.")
    group: str | None = Field(description="The group of flows that is measured; none of the whole run.")
    verdict: Verdict
    seeds: int
    findings: list[Found]
    values: dict[str, list[float] | list[str]] = Field(description="What a query returned, by name and seed.")
    error: str | None = Field(description="Why the candidate's runs failed.")

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """An answer as a card has it."""
        question = answer.question
        return cls(
            id=question.id,
            question=question.question,
            section=question.section,
            reading=question.reading,
            rule=question.rule.value,
            metric=question.metric,
            group=question.group,
            verdict=answer.verdict,
            seeds=answer.seeds,
            findings=[Found.of(each) for each in answer.findings],
            values={name: list(listed) for name, listed in answer.values.items()},
            error=answer.error,
        )

    @property
    def deciding(self) -> Found | None:
        """The finding that decides: of the verdict the one that is furthest beyond what is allowed; none if the runs failed."""
        those = [each for each in self.findings if each.verdict is self.verdict]
        return max(those, key=lambda each: -math.inf if each.excess is None else each.excess.mean - each.allowed, default=None)


class LeftOut(_Part):
    """A question that was not asked, and why."""

    id: str
    question: str
    why: str
    undecidable: bool = Field(description="Whether the backend cannot decide it.")

    @classmethod
    def of(cls, question: Question, why: str, *, undecidable: bool = False) -> Self:
        """A question that is left out."""
        return cls(id=question.id, question=question.question, why=why, undecidable=undecidable)


class ForTheAuthor(_Part):
    """What a simulation cannot decide."""

    section: str
    question: str

    @classmethod
    def of(cls, asked: Asked) -> Self:
        """Such a question of a suite."""
        return cls(section=asked.section, question=asked.question)


class Card(_Part):
    """A whole card."""

    format: int = FORMAT
    suite: str
    source: str = Field(description="The standard that the suite asks for.")
    of: Literal["tcp", "queue"]
    candidate: str
    version: str = Field(description="Sojourn's.")
    backend: str
    quick: bool
    draw: int | None = Field(description="The seed that conditions were drawn by; none of the suite's fixed points.")
    verdict: Verdict = Field(
        description="The worst of all questions that were decided; that of open ones if there is none worse."
    )
    rows: list[Row]
    left_out: list[LeftOut]
    asked: list[ForTheAuthor] = Field(description="What the author has to answer.")

    @classmethod
    def made(
        cls,
        suite: Suite,
        candidate: str,
        answers: Iterable[Answer],
        left_out: Sequence[LeftOut],
        *,
        version: str,
        backend: str,
        quick: bool,
        draw: int | None,
    ) -> Self:
        """The card of some answers."""
        rows = [Row.of(each) for each in answers]
        return cls(
            suite=suite.name,
            source=suite.source,
            of=suite.kind.value,
            candidate=candidate,
            version=version,
            backend=backend,
            quick=quick,
            draw=draw,
            verdict=worst(row.verdict for row in rows),
            rows=rows,
            left_out=list(left_out),
            asked=[ForTheAuthor.of(each) for each in suite.asked],
        )

    @property
    def file(self) -> str:
        """What its files are called, without their endings."""
        return file_of(self.candidate)

    @property
    def undecidable(self) -> int:
        """How many questions the backend could not decide of those that were to be asked."""
        return sum(each.undecidable for each in self.left_out)

    @property
    def concerns(self) -> list[Row]:
        """The questions that are a concern or have failed."""
        return [row for row in self.rows if row.verdict in (Verdict.CONCERN, Verdict.FAIL)]

    def tally(self) -> Mapping[Verdict, int]:
        """How many questions have each verdict, the worst first."""
        return {verdict: sum(row.verdict is verdict for row in self.rows) for verdict in Verdict}

    def text(self) -> str:
        """The card as JSON, ending in a newline: the same bytes for the same runs."""
        return self.model_dump_json(indent=2) + "\n"

    def badge(self) -> str:
        """A line of Markdown that says what came of it."""
        counted = ", ".join(f"{number} {verdict}" for verdict, number in self.tally().items() if number)
        how = " (quick)" if self.quick else ""
        return f"**{self.candidate}**, {self.suite}{how}: {counted or 'nothing asked'} (Sojourn {self.version})"


def schema() -> str:
    """The JSON Schema of cards as it is published, ending in a newline."""
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Card.model_json_schema()}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
