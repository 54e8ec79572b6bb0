"""What is known of congestion controls comes out of the questions of the suite rfc9743, under its own conditions and seeds."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sojourn import api
from sojourn.suite import library
from sojourn.suite.card import Found, Row
from sojourn.suite.design import Quick
from sojourn.suite.judging import Verdict

#: Returns what a candidate's card says of a question, with all its seeds, and under all its conditions unless some are named.
Asked = Callable[..., Row]

#: A flow that heeds nothing.
CONSTANT = {"name": "cbr", "rate": "10 Mbit/s"}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Asks, and keeps the runs: candidates of one question share those of its comparators."""
    suite = library.load("rfc9743")
    kept = tmp_path_factory.mktemp("asked")

    def ask(candidate: str | Mapping[str, Any], question: str, **only: str | list[str]) -> Row:
        (one,) = (each for each in suite.questions if each.id == question)
        some = one.model_copy(update={"quick": Quick(select=only)})
        alone = suite.model_copy(update={"questions": [some]})
        (row,) = api.ask(api.plan_evaluation(candidate, "tcp", alone, quick=True), out=kept).rows
        assert row.error is None
        return row

    return ask


def found(row: Row, **condition: str) -> Found:
    """Returns the finding under one condition."""
    (one,) = (each for each in row.findings if condition.items() <= each.condition.items())
    return one


def mean(finding: Found) -> float:
    """Returns the candidate's mean measure or harm."""
    assert finding.candidate is not None
    return finding.candidate.mean


def taken(harm: float) -> float:
    """Returns how many times the victim's throughput a candidate has that harms it so much on a link that both fill."""
    return harm / (1 - harm)


@pytest.mark.long
def test_bbr_loses_packets_below_one_and_a_half_bdp(asked: Asked) -> None:
    """Several flows of BBR version 1 lose many packets where the buffer is below 1.5 BDP, and few beyond (RFC 9743 section 5.1.3,
    after Hock, Bless and Zitterbart, ICNP 2017). A BDP is 67 packets.
    """
    row = asked("bbr", "loss-it-causes")
    verdicts = {each.condition["buffer"]: each.verdict for each in row.findings}
    assert {buffer for buffer, verdict in verdicts.items() if verdict is Verdict.CONCERN} == {
        "7 packets",
        "34 packets",
        "67 packets",
        "100 packets",
    }
    assert mean(found(row, buffer="67 packets")) > 10 * mean(found(row, buffer="200 packets"))


@pytest.mark.long
def test_bbr_harms_in_shallow_buffers(asked: Asked) -> None:
    """BBR version 1 takes nearly all from loss-based flows in shallow buffers, and no more than they take from each other in deep
    ones (Hock, Bless and Zitterbart, ICNP 2017; Ware et al., IMC 2019).
    """
    row = asked("bbr", "beside-standard")
    for victim in ("cubic", "newreno"):
        shallow = found(row, victim=victim, buffer="17 packets")
        assert shallow.verdict is Verdict.CONCERN
        assert mean(shallow) > 0.85
        assert found(row, victim=victim, buffer="536 packets").verdict is Verdict.PASS


@pytest.mark.long
def test_scalable_is_unfair_by_rtt(asked: Asked) -> None:
    """Scalable TCP starves a flow of a longer round-trip time where windows are large: its unfairness has no bound, that of AIMD
    grows with a power of the ratio (Xu, Harfoush and Rhee, INFOCOM 2004).
    """
    row = asked("scalable", "fair-by-rtt", far="49 ms", rate="100 Mbit/s")
    assert row.verdict is Verdict.CONCERN
    # One of two has nearly all: Jain's index is (1 + x)^2 / (2 + 2 x^2), with x = 0.05 for one twentieth 0.55.
    (far,) = row.findings
    assert mean(far) < 0.55


@pytest.mark.long
def test_ledbat_yields(asked: Asked) -> None:
    """LEDBAT harms no standard flow more than these do each other, and gets less than its share beside them (RFC 6817)."""
    assert asked("ledbat", "beside-standard").verdict is Verdict.PASS
    share = asked("ledbat", "own-share")
    assert found(share, beside="cubic", buffer="268 packets").verdict is Verdict.CONCERN


def test_latecomers_of_ledbat_take_all(asked: Asked) -> None:
    """A flow of LEDBAT that comes later takes the queue of the first for delay of the path, and starves it (Carofiglio et al.,
    "Rethinking the low extra delay background transport (LEDBAT) protocol", Computer Networks 57(8), 2013). Others share.
    """
    row = asked("ledbat", "latecomer")
    late = found(row, rate="5 Mbit/s")
    assert late.verdict is Verdict.CONCERN
    assert mean(late) < 0.55
    assert all(each is not None and each.mean > 0.95 for each in late.comparators.values())


def test_vegas_starves_beside_newreno(asked: Asked) -> None:
    """Vegas backs off from the queue that Reno builds: with a long buffer it has less than a tenth of a fair share of 10 Mbit/s
    (Mo, La, Anantharam and Walrand, INFOCOM 1999).
    """
    row = asked("vegas", "own-share")
    beside = found(row, beside="newreno", buffer="268 packets")
    assert beside.verdict is Verdict.CONCERN
    assert mean(beside) < 1.0


def test_constant_rate_does_not_back_off(asked: Asked) -> None:
    """What heeds nothing sends on when all feedback is lost (RFC 2914 section 5)."""
    row = asked(CONSTANT, "no-feedback")
    assert row.verdict is Verdict.FAIL


@pytest.mark.long
def test_prague_takes_a_queue_that_marks(asked: Asked) -> None:
    """In one queue that marks both, Prague takes a multiple of what CUBIC gets: 1.19 / sqrt(p) by their windows of 2 / p and
    1.68 / sqrt(p) where a share p of packets is marked, so more at 100 than at 20 Mbit/s. Through DualPI2 each has about as much,
    but for the delay of its queue (RFC 9332 section 1.1 and appendix C).
    """
    row = asked("prague", "beside-behind-marks", queue="codel")
    near, far = (taken(mean(found(row, queue="codel", rate=rate))) for rate in ("20 Mbit/s", "100 Mbit/s"))
    assert 1.5 * near < far
    assert 20 <= far <= 60
    assert found(row, queue="codel", rate="100 Mbit/s").verdict is Verdict.CONCERN
    (mended,) = (taken(mean(each)) for each in asked("prague", "l4s", victim="cubic").findings)
    # The queue of CUBIC waits 15 ms, on a path of 40 ms, and a rate is a window by the round-trip time.
    assert mended < 2


@pytest.mark.long
def test_only_delay_tells_of_concealed_losses(asked: Asked) -> None:
    """A sender whose receiver acknowledges what was lost goes on until most of what it sends is lost, whether it goes by losses
    or by the rate of acknowledgements (Savage et al., ACM CCR 29(5), 1999). Vegas sees the queue (Brakmo and Peterson 1995).
    """
    assert asked("newreno", "misbehaving-receiver").verdict is Verdict.CONCERN
    assert asked("bbr", "misbehaving-receiver").verdict is Verdict.CONCERN
    assert asked("vegas", "misbehaving-receiver").verdict is Verdict.PASS
