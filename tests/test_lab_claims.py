"""The stories of the laboratory say what their runs have: each number, and each finding."""

import re
from collections.abc import Iterator

import pytest

from laboratory import MISSING, Headless

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

#: Stories whose claims lab/src/model/claims.ts has.
STORIES = (
    "bufferbloat",
    "codel",
    "codel-crowd",
    "bbr-cubic",
    "rtt-unfairness",
    "lock-out",
    "l4s",
    "policer",
    "pie-droptail",
    "incast",
    "radio",
    "wifi",
    "ledbat",
)

#: Numbers that are names.
NAMES = re.compile(r"RFC \d+|L4S|DualPI2")


@pytest.fixture(scope="module")
def lab() -> Iterator[Headless]:
    with Headless.of_engine() as headless:
        yield headless


@pytest.mark.parametrize("story", STORIES)
def test_story_says_what_its_runs_have(lab: Headless, story: str) -> None:
    """Each claim stands in the story word for word and is true of the runs; no number of the story is without one."""
    preset = next(each for each in lab.ask("presets") if each["id"] == story)
    rest = NAMES.sub("", preset["story"])
    answer = lab.ask("claims", preset=preset)
    for words in answer["of_papers"]:
        assert words in preset["story"]
        rest = rest.replace(words, "")
    for claim in answer["claims"]:
        assert claim["says"] in preset["story"]
        assert claim["from"] <= claim["found"] <= claim["until"], claim
        rest = rest.replace(claim["says"], "")
    assert not re.search(r"\d", rest), rest
