"""The report cards of docs/cards.md: one question of each is asked again, and has the same verdict."""

import pytest

import sojourn
from made.cards import DEPLOYED, recorded
from sojourn.suite import library

#: A question of each suite whose runs are short.
ASKED = {"rfc9743": "more-capacity", "rfc7928": "friendly"}

#: Those that `make test` asks; `make test-long` asks all.
QUICK = {"bbr", "droptail"}


@pytest.mark.parametrize(
    ("suite", "candidate"),
    [
        pytest.param(suite, name, marks=[] if name in QUICK else pytest.mark.long)
        for suite, names in DEPLOYED.items()
        for name in names
    ],
)
def test_a_question_has_the_same_verdict(suite: str, candidate: str) -> None:
    """What the page says of a candidate is what runs give today."""
    loaded = library.load(suite)
    asked = loaded.model_copy(update={"questions": [each for each in loaded.questions if each.id == ASKED[suite]]})
    (kept,) = (each for each in recorded() if (each.suite, each.candidate, each.question) == (suite, candidate, ASKED[suite]))
    found = sojourn.evaluate(candidate, str(loaded.kind), asked)
    assert found["verdict"].to_list() == [kept.verdict]
