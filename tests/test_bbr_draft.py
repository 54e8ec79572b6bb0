"""The suite bbr-draft asks the test cases of draft-ietf-ccwg-bbr, and can tell an implementation that does not keep to them."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import Capture, complaint
from own_files import needs_compiler
from sojourn import api
from sojourn.cli.commands import status
from sojourn.suite import library

#: The cases of the section "BBR Example Test Cases" of the draft, by their titles there.
CASES = {
    "Exiting STARTUP on Bandwidth Plateau",
    "Exiting STARTUP on Loss When Application-Limited",
    "Exiting DRAIN Based on Inflight",
    "Exiting DRAIN Based on Time",
    "Exiting PROBE_UP on Bandwidth Plateau",
    "Exiting PROBE_UP on Loss When Application-Limited",
    "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss",
    "Exiting PROBE_DOWN on Inflight",
    "Exiting PROBE_DOWN After Max Time",
    "Entering and Exiting PROBE_RTT",
    "Skipping PROBE_RTT Due to Application-Limited Sending",
    "Achieving Expected STARTUP Bandwidth on a Link With Aggregation",
    "Achieving Expected Cruise Bandwidth on a Link With Aggregation",
    "Correctly Managing Sub-Packet BDPs",
    "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached",
    "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down",
    "Handling Token Bucket Policers",
    "Handling Spurious Fast Recovery",
    "Handling Spurious RTO Recovery",
    "Entering and Exiting PROBE_RTT During STARTUP",
    "Handling Loss During PROBE_UP After inflight_longterm is Set",
    "Handling Application-Limited Sending During PROBE_REFILL",
}

#: What bbr3 itself does not pass; docs/evaluate.md says why.
OPEN = {"policer"}

#: BBRv3 with another constant than the draft's, and the cases that it must fail besides.
ALTERED: list[tuple[dict[str, Any], set[str]]] = [
    ({"full_bandwidth_rounds": 5}, {"startup-plateau", "up-plateau", "probe-rtt-startup"}),
    ({"drain_pacing_gain": 0.7}, {"drain-inflight", "drain-time"}),
    ({"down_pacing_gain": 0.8}, {"down-inflight", "down-time"}),
    ({"least_window": 2}, {"sub-packet"}),
    ({"loss_threshold": 0.5}, {"startup-loss-limited", "up-loss-limited", "up-loss", "bandwidth-up"}),
]

#: A window of Reno that shows the phases and never leaves the first.
NEVER = '''
from sojourn.plugins import CongestionControl, Growth, state

PHASES = ("startup", "drain", "probe_bw_down", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_rtt")


class Never(CongestionControl):
    """Leaves no phase."""

    phase = state("The first", phases=PHASES)

    def __init__(self):
        self.phase = "startup"
        self.growth = Growth()

    def increase(self, window, ack):
        self.growth.additive(window, window.segments, ack.credit)

    def on_congestion(self, window, event):
        window.set_ssthresh(window.cwnd / 2)
'''

#: The same in C.
NEVER_C = """
#include <sojourn.h>

struct never {
    uint64_t phase;
    struct sojourn_growth growth;
};

static void increase(void *state, struct sojourn_window *window, const struct sojourn_ack *ack)
{
    struct never *self = state;
    sojourn_additive(&self->growth, window, sojourn_segments(window), ack->credit);
}

static void on_congestion(void *state, struct sojourn_window *window, const struct sojourn_event *event)
{
    if (event->kind == SOJOURN_LOSS)
        sojourn_set_ssthresh(window, event->flight_size / 2);
}

static const char *const phases[] = {
    "startup", "drain", "probe_bw_down", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_rtt", NULL,
};

static const struct sojourn_value shows[] = {
    SOJOURN_SHOW_PHASE(struct never, phase, phases, "The first"),
    SOJOURN_SHOW_END,
};

SOJOURN_CONGESTION_CONTROL(.title = "Leaves no phase", .state_bytes = sizeof(struct never), .increase = increase,
                           .on_congestion = on_congestion, .shows = shows);
"""


def suite(*questions: str) -> dict[str, Any]:
    """Returns the suite with some of its questions, or with all."""
    data = tomllib.loads((library.FOLDER / "bbr-draft" / library.FILE).read_text(encoding="utf-8"))
    return {**data, "questions": [each for each in data["questions"] if not questions or each["id"] in questions]}


def failed(candidate: str | Path | Mapping[str, Any], of: Mapping[str, Any]) -> set[str]:
    """Returns the questions of a suite that a candidate fails."""
    found = sojourn.evaluate(candidate, suite=of, jobs=1)
    assert found["error"].null_count() == found.height
    return set(found.filter(found["verdict"] == "fail")["id"])


def test_every_case_is_a_question() -> None:
    """Each of the draft's 22 cases is one question that must hold."""
    questions = library.load("bbr-draft").questions
    assert [each.rule.value for each in questions] == ["must"] * 22
    assert {each.section for each in questions} == CASES


def test_one_case() -> None:
    """BBR.ProbeRTTInterval is 5 s (section 2.16.2): bbr3 passes the case of PROBE_RTT, and with 3 s it fails it."""
    found = sojourn.evaluate("bbr3", suite=suite("probe-rtt"), jobs=1)
    assert found["verdict"].to_list() == ["pass"]
    assert failed({"name": "bbr3", "probe_rtt_interval": "3 s"}, suite("probe-rtt")) == {"probe-rtt"}


@pytest.mark.long
def test_bbr3() -> None:
    """bbr3 passes every case but that of the policer, where short paths lose more than LossThresh."""
    found = sojourn.evaluate("bbr3", suite="bbr-draft", jobs=1)
    assert set(found.filter(found["verdict"] != "pass")["id"]) == OPEN


@pytest.mark.long
@pytest.mark.parametrize(("changed", "cases"), [pytest.param(*each, id=next(iter(each[0]))) for each in ALTERED])
def test_altered(changed: Mapping[str, Any], cases: set[str]) -> None:
    """BBRv3 with a constant that is not the draft's fails the cases that are about it, and no others."""
    candidate = {"name": "bbr3", **changed}
    # Each case must hold by itself, so bbr3 is not asked again beside it.
    assert failed(candidate, {**suite(), "comparators": [candidate]}) == cases | OPEN


@pytest.mark.parametrize(
    ("candidate", "said"),
    [("cubic", "cubic does not show phase, max_bw"), ("bbr", "bbr does not show full_bw_now")],
)
def test_who_shows_no_state_is_not_asked(candidate: str, said: str, capsys: Capture) -> None:
    """What the cases look at is named in one line, with exit status 2."""
    assert status(["evaluate", "tcp", candidate, "--suite", "bbr-draft"]) == 2
    assert said in complaint(capsys)


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize(("name", "text"), [("never.py", NEVER), pytest.param("never.c", NEVER_C, marks=needs_compiler)])
def test_own_file(tmp_path: Path, name: str, text: str) -> None:
    """A file with the seven phases is asked what needs no more of it; where it never gets to a phase, the case has failed."""
    mine = tmp_path / name
    mine.write_text(text)
    planned = api.plan_evaluation(mine, suite="bbr-draft", jobs=1)
    assert {each.question.id for each in planned.asked} == {"up-loss-limited", "probe-rtt-idle"}
    assert all("does not show" in left.why for left in planned.left_out)
    assert failed(mine, suite("up-loss-limited")) == {"up-loss-limited"}


@pytest.mark.usefixtures("own_cache")
def test_other_phases(tmp_path: Path) -> None:
    """Phases are numbers in the samples, so those of another order would be read wrongly: such a file is refused."""
    mine = tmp_path / "other.py"
    mine.write_text(re.sub(r"PHASES = \(.*\)", 'PHASES = ("startup", "steady")', NEVER))
    with pytest.raises(sojourn.InputError, match="has other phases: startup, steady"):
        api.plan_evaluation(mine, suite=suite("probe-rtt-idle"), jobs=1)
