"""What is known of queue disciplines comes out of the questions of the suite rfc7928, under its own conditions and seeds."""

from collections.abc import Callable
from pathlib import Path

import pytest

import sojourn
from sojourn import api
from sojourn.suite import library
from sojourn.suite.card import Row
from sojourn.suite.judging import Verdict

#: Returns what a candidate's card says of a question, all its conditions and seeds included.
Asked = Callable[[str | Path, str], Row]

#: A discipline that is broken on purpose.
SWINGS = Path(__file__).parent / "data" / "broken" / "queues" / "swings.py"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Asks, and keeps the runs: candidates of one question share those of its comparators."""
    suite = library.load("rfc7928")
    kept = tmp_path_factory.mktemp("asked")

    def ask(candidate: str | Path, question: str) -> Row:
        alone = suite.model_copy(update={"questions": [each for each in suite.questions if each.id == question]})
        (row,) = api.ask(api.plan_evaluation(candidate, "queue", alone), out=kept).rows
        assert row.error is None
        return row

    return ask


def mean(row: Row, contender: str, **condition: str) -> float:
    """Returns a contender's mean under one condition."""
    (one,) = (each for each in row.findings if condition.items() <= each.condition.items())
    of = {**one.comparators, "": one.candidate}[contender]
    assert of is not None
    return of.mean


def dropped(queue: str, burst: str) -> int:
    """Returns how many packets of a burst at twice the link's rate are dropped; the queue is empty and has room for all."""
    ends = {"rate": "1 Gbit/s", "delay": "1 ms"}
    result = sojourn.run(
        {
            "name": "burst",
            "duration": "2 s",
            "network": {
                "dumbbell": {
                    "senders": [{"name": "a", **ends}],
                    "receivers": [{"name": "b", **ends}],
                    "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"name": queue, "limit": "1000 packets"}},
                }
            },
            "flows": [{"from": "a", "to": "b", "start": "0 s", "stop": burst, "tcp": {"name": "cbr", "rate": "20 Mbit/s"}}],
        },
        1,
    )
    return int(result.queues["drops"].sum())


def test_red_needs_tuning(asked: Asked) -> None:
    """With its defaults RED's delay follows the load; Adaptive RED, made against that, and PIE, which tunes itself, keep it
    (Floyd, Gummadi and Shenker, "Adaptive RED", 2001, section 1; RFC 8033 section 1).
    """
    assert asked("red", "steady-delay").verdict is Verdict.CONCERN
    assert asked("ared", "steady-delay").verdict is Verdict.PASS
    assert asked("pie", "steady-delay").verdict is Verdict.PASS


def test_red_loses_goodput_where_capacity_falls_and_rises(asked: Asked) -> None:
    """Where the capacity changes every 100 ms RED leaves less than half of the goodput: its parameters are set for one rate
    (RFC 7567 section 4.3 wants none that operators must tune).
    """
    row = asked("red", "varying-capacity-goodput")
    assert row.verdict is Verdict.CONCERN
    assert mean(row, "", every="100 ms") < mean(row, "droptail", every="100 ms") / 2


def test_tail_drop_fills_its_buffer(asked: Asked) -> None:
    """Behind tail drop packets wait for the whole buffer, 199 ms of 10 Mbit/s, whatever the load (RFC 7567 section 2)."""
    row = asked("droptail", "delay")
    assert [each.verdict for each in row.findings] == [Verdict.CONCERN] * 3
    for load in ("mild", "medium", "heavy"):
        assert mean(row, "", load=load) == pytest.approx(166 * 1500 * 8 / 10e6, rel=0.01)


def test_fq_codel_is_fair_at_every_round_trip_time(asked: Asked) -> None:
    """FQ-CoDel gives flows the same whatever their round-trip times, CoDel and PIE do not (RFC 8290 section 1)."""
    row = asked("fq_codel", "fair-by-rtt")
    assert {each.verdict for each in row.findings} == {Verdict.PASS}
    assert all(mean(row, "", rtt=rtt) > 0.95 for rtt in ("5 ms", "28 ms", "252 ms", "560 ms"))
    assert all(mean(row, name, rtt="5 ms") < 0.8 for name in ("codel", "pie"))


def test_codel_and_pie_differ_in_bursts() -> None:
    """CoDel drops none of a burst whose queue is gone within its interval of 100 ms (RFC 8289 section 3.2), PIE none in the
    150 ms after the queue was empty, however long it takes to drain (RFC 8033 section 4.4). Of longer bursts each drops.
    """
    bursts = ("40 ms", "140 ms", "400 ms")
    codel, pie = ([dropped(queue, burst) for burst in bursts] for queue in ("codel", "pie"))
    assert codel[0] == 0 < codel[1] < codel[2]
    assert pie[:2] == [0, 0]
    assert pie[2] > 0


def test_pie_drops_of_bursts_behind_others(asked: Asked) -> None:
    """Where others have filled the queue PIE drops arrivals at random, of bursts as well; CoDel lets bursts of ten packets pass
    (RFC 8033 section 4.1, RFC 8289 section 3).
    """
    row = asked("pie", "burst-loss")
    assert mean(row, "codel") == 0
    (found,) = row.findings
    assert found.candidate is not None
    assert found.candidate.low is not None
    assert found.candidate.low > 0


@pytest.mark.long
@pytest.mark.parametrize("question", ["stability", "varying-load"])
def test_a_queue_that_swings_is_told(question: str, asked: Asked) -> None:
    """What admits few packets for four seconds and all in the next four varies more than CoDel and PIE do under any load."""
    row = asked(SWINGS, question)
    assert [each.verdict for each in row.findings] == [Verdict.CONCERN] * len(row.findings)


@pytest.mark.long
def test_whose_drops_favour_small_packets(asked: Asked) -> None:
    """RED in byte mode, its default in ns-2, drops packets in proportion to their size, against the advice of RFC 7141 section
    2.2. CoDel drops by the clock, and small packets pass in a shorter time. PIE drops each with the same probability (RFC 8033
    section 4.1).
    """
    values = asked("red", "packet-sizes").values
    small, large = ([float(each) for each in values[f"{name}_loss_pct"]] for name in ("small", "large"))
    assert sum(large) / sum(small) == pytest.approx(3, rel=0.3)
    assert asked("codel", "packet-sizes").verdict is Verdict.CONCERN
    assert asked("pie", "packet-sizes").verdict is Verdict.PASS
