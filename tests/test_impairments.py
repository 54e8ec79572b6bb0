"""Impairments, asymmetric links and traces in scenario files: what they mean for a run, and what is refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.plan import plan
from sojourn.campaign import randomness
from sojourn.errors import InputError
from sojourn.scenario import Scenario, from_data
from sojourn.scenario.given import Given
from sojourn.scenario.traces import mean
from sojourn.specification import bottleneck_rate, specify

MS = 10**9
SECOND = 10**12


def given(bottleneck: Mapping[str, Any]) -> dict[str, Any]:
    host = {"rate": "100 Mbit/s"}
    return {
        "name": "impaired",
        "duration": "10 s",
        "network": {
            "dumbbell": {
                "senders": [{"name": "a", **host}],
                "receivers": [{"name": "b", **host}],
                "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": "droptail", **bottleneck},
            }
        },
        "flows": [{"from": "a", "to": "b", "tcp": "cubic", "start": "0 s"}],
    }


def links(bottleneck: Mapping[str, Any], folder: Path | None = None) -> list[dict[str, Any]]:
    """The two directions of the bottleneck, as a run's specification has them."""
    return specify(Scenario.of(given(bottleneck), folder), 1)["links"][:2]


def trace(folder: Path, text: str, name: str = "cell") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_impairments_of_each_direction() -> None:
    """Impairments are of the direction that has them, and links without any have the specification that they always had."""
    forwards, backwards = links({"impairments": {"slot": "5 ms"}, "reverse": {"impairments": {"duplication": 0.1}}})
    assert (forwards["impairments"]["slot"], forwards["impairments"]["duplication"]) == (5 * MS, 0.0)
    assert (backwards["impairments"]["slot"], backwards["impairments"]["duplication"]) == (0, 0.1)
    assert all("impairments" not in link and "rate_trace" not in link for link in links({}))


def test_asymmetric_rate_and_delay() -> None:
    """The reverse direction has its own rate and delay, and a change of one direction leaves the other."""
    changes = [{"at": "1 s", "rate": "5 Mbit/s", "delay": "1 ms"}, {"at": "2 s", "reverse": {"delay": "7 ms"}}]
    forwards, backwards = links({"reverse": {"rate": "1 Mbit/s", "delay": "30 ms"}, "changes": changes})
    assert [(link["rate"], link["delay"]) for link in (forwards, backwards)] == [(10**7, 10 * MS), (10**6, 30 * MS)]
    assert [(change["at"], change["rate"], change["delay"]) for change in forwards["changes"]] == [(SECOND, 5 * 10**6, MS)]
    assert [(change["at"], change["rate"], change["delay"]) for change in backwards["changes"]] == [(2 * SECOND, None, 7 * MS)]
    both = links({"changes": [{"at": "1 s", "rate": "5 Mbit/s"}]})
    assert [link["changes"][0]["rate"] for link in both] == [5 * 10**6] * 2


def test_random_impairments_are_told() -> None:
    """What the seed decides of impairments is named, and a policer is not among it."""
    impairments = {"policer": {"rate": "1 Mbit/s", "burst": "10 KiB"}, "jitter": {"mean": "1 ms"}, "bit_error_ratio": 1e-6}
    assert ("impairments", "bit_error_ratio, jitter") in randomness.parts(
        specify(Scenario.of(given({"impairments": impairments})), 1)
    )


@pytest.mark.parametrize(
    ("impairments", "expected"),
    [
        ({"polcer": {}}, 'unknown key "polcer", did you mean "policer"?'),
        ({"policer": {"rate": "1 Mbit/s"}}, "impairments.policer.burst"),
        ({"burst_loss": {"enter": 0.1, "leave": 0}}, "impairments.burst_loss.leave"),
        ({"burst_loss": {"enter": 1.5, "leave": 0.1}}, "impairments.burst_loss.enter"),
        ({"bit_error_ratio": 2}, "impairments.bit_error_ratio"),
        ({"jitter": {"mean": "1 ms", "distribution": "pareto"}}, "impairments.jitter.distribution"),
        ({"jitter": {"mean": "0 ms"}}, "a duration must be greater than 0"),
        ({"slot": "4000 s"}, "at most an hour"),
    ],
)
def test_bad_impairments_are_refused(impairments: Mapping[str, Any], expected: str) -> None:
    """A bad impairment is one line with its key."""
    with pytest.raises(InputError, match=expected.replace("?", r"\?").replace(".", r"\.")):
        sojourn.run(from_data(given({"impairments": impairments}), "a scenario"))


def test_mahimahi_trace(tmp_path: Path) -> None:
    """An opportunity of mahimahi's is 1500 bytes in its millisecond, and the last line the end of the trace (mm-link(1))."""
    forwards, _ = links({"rate": {"trace": "cell"}}, trace(tmp_path, "1\n1\n3\n10\n"))
    found = forwards["rate_trace"]
    assert found["slots"] == {"step": MS, "unit": 12_000_000, "counts": (2, 0, 1, 0, 0, 0, 0, 0, 0, 1)}
    assert (found["until"], found["repeats"], forwards["rate"]) == (10 * MS, True, 4 * 1500 * 8 * 100)
    assert mean(found, 0, 25 * MS) == pytest.approx((4 + 4 + 3) * 12_000 / 0.025)


def test_rate_and_delay_from_csv(tmp_path: Path) -> None:
    """Values of CSV count until the next row's time, and the last row is the end; without repetition the last value stays."""
    trace(tmp_path, "time_s,rate_mbit_s,delay_ms\n0,8,10\n1.5,2,40\n2,0,0\n")
    one = {"trace": "cell", "repeat": False}
    forwards, backwards = links({"rate": one, "delay": one, "reverse": {"rate": "1 Mbit/s", "delay": "3 ms"}}, tmp_path)
    assert forwards["rate_trace"]["steps"] == ((0, 8_000_000), (3 * SECOND // 2, 2_000_000))
    assert forwards["delay_trace"]["steps"] == ((0, 10 * MS), (3 * SECOND // 2, 40 * MS))
    assert (forwards["rate"], forwards["delay"]) == (6_500_000, 17_500_000_000)
    assert "rate_trace" not in backwards
    assert backwards["rate"] == 10**6
    assert mean(forwards["rate_trace"], SECOND, 4 * SECOND) == pytest.approx((8 * 0.5 + 2 * 2.5) / 3 * 1e6)


def test_trace_is_used_up(tmp_path: Path) -> None:
    """A source of twice a trace's mean delivers what the trace offers within the window, which begins within a cycle."""
    trace(tmp_path, "time_s,rate_mbit_s\n0,8\n1.5,0\n2,0\n")
    scenario = {**given({"rate": {"trace": "cell"}, "delay": "1 ms"}), "warm_up": "3 s"}
    scenario["flows"] = [{"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "12 Mbit/s"}, "start": "0 s"}]
    read = Scenario.of(scenario, tmp_path)
    assert bottleneck_rate(specify(read, 1)) == pytest.approx(8e6 * (0.5 + 3 * 1.5) / 7)
    delivered = sojourn.run(read).flows["bytes_delivered"].sum()
    assert 8 * delivered / 7 == pytest.approx(bottleneck_rate(specify(read, 1)), rel=1e-3)


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("rate", "", "is empty"),
        ("rate", "5\n3\n", "line 2: 3 is earlier than the line before, 5"),
        ("rate", "5\nx\n", 'line 2: "x" is not a whole number'),
        ("rate", "0\n0\n", "ends at 0 ms"),
        ("rate", "2000000\n", "at most 1,000,000"),
        ("delay", "1\n2\n", "has opportunities to send, and no delays"),
        ("rate", "time_s,delay_ms\n0,1\n1,1\n", 'no column "rate_mbit_s"'),
        ("rate", "time_s,rate_mbit_s\n0,1\n", "needs two rows"),
        ("rate", "time_s,rate_mbit_s\n0,1\n2,1\n1,1\n", "line 4: time_s must be later"),
        ("rate", "time_s,rate_mbit_s\n1,1\n2,1\n", "line 2: time_s must be 0"),
        ("rate", "time_s,rate_mbit_s\n0,-1\n2,1\n", 'line 2: "-1" must be 0 or more'),
        ("rate", "time_s,rate_mbit_s\n0,nan\n2,1\n", "line 2"),
        ("rate", "time_s,rate_mbit_s\n0,0\n2,1\n", "is 0 all the time"),
        ("rate", "time_s,rate_mbit_s\n0,1,2\n2,1\n", "line 2: 3 values instead of 2"),
    ],
)
def test_bad_traces_are_refused(tmp_path: Path, key: str, text: str, expected: str) -> None:
    """A trace that cannot be read is one line with its name and the line that is wrong."""
    trace(tmp_path, text)
    with pytest.raises(ValueError, match="cell") as caught:
        Scenario.of(given({key: {"trace": "cell"}}), tmp_path)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("bottleneck", "expected"),
    [
        ({"rate": {"trace": "none"}}, "cannot read the trace"),
        ({"rate": {"file": "cell"}}, 'unknown key "file"'),
        ({"rate": {"trace": "cell", "repeat": 1}}, '"repeat" must be true or false'),
        ({"rate": {"trace": "cell"}, "changes": [{"at": "1 s", "rate": "1 Mbit/s"}]}, "changes cannot set it"),
    ],
)
def test_bad_uses_of_traces(tmp_path: Path, bottleneck: Mapping[str, Any], expected: str) -> None:
    """A trace that is not there, a wrong key and a change of what a trace says are refused."""
    trace(tmp_path, "1\n2\n")
    with pytest.raises(ValueError, match=r"rate|repeat") as caught:
        Scenario.of(given(bottleneck), tmp_path)
    assert expected in str(caught.value)


def test_linux_has_no_frames() -> None:
    """The backend linux refuses frames, and says which key asks for them."""
    scenario = Scenario.of(given({"aggregation": {"packets": "2 packets"}}))
    with pytest.raises(Impossible) as caught:
        plan(specify(scenario, 1), Limitations())
    assert str(caught.value.refused(Given(scenario))).startswith("network.dumbbell.bottleneck.aggregation")


def test_frames_of_each_direction() -> None:
    """Frames are of the direction that has them, with the defaults of 802.11n: 133.5 us before the data and 32 us after them."""
    reverse = {"queue": "droptail", "aggregation": {"packets": "8 packets"}}
    forwards, backwards = links({"aggregation": {}, "reverse": reverse})
    assert forwards["aggregation"] == {
        **{"packets": 64, "size": 65_535, "airtime": 4 * MS, "access": 133_500_000, "response": 32_000_000},
        **{"response_size": 58, "header": 42},
    }
    assert backwards["aggregation"] == forwards["aggregation"] | {"packets": 8}
    assert "aggregation" not in links({})[0]


def test_frames_carry_what_they_say() -> None:
    """A saturated link of 144.4 Mbit/s with frames of a packet of 1500 bytes delivers 12,000 bits in 254.2 us, its busy time."""
    scenario = given({"rate": "144.4 Mbit/s", "aggregation": {"packets": "1 packets"}})
    scenario["flows"] = [
        {"from": "a", "to": "b", "tcp": {"name": "cbr", "rate": "90 Mbit/s", "packet_size": "1500 B"}, "start": "0 s"}
    ]
    result = sojourn.run(from_data({**scenario, "duration": "2 s", "warm_up": "1 s"}, "a scenario"))
    taken = 133.5e-6 + 8 * 1544 / 144.4e6 + 32e-6 + 8 * 58 / 144.4e6
    assert result.runs["total_mbps"].item() == pytest.approx(12e-3 / taken, rel=1e-3)
    assert result.runs["utilisation"].item() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("bottleneck", "expected"),
    [
        ({"aggregation": {"packets": "0 packets"}}, "aggregation.packets: must be greater than or equal to 1"),
        ({"aggregation": {"header": "60000 B"}}, "aggregation.header: must be less than or equal to 500"),
        ({"aggregation": {"airtme": "4 ms"}}, 'unknown key "airtme", did you mean "airtime"?'),
        ({"reverse": {"aggregation": {}}}, "reverse.aggregation needs a queue to take packets from"),
        ({"aggregation": {}, "device_queue": "5 packets"}, "aggregation and device_queue exclude each other"),
        ({"aggregation": {"access": "4000 s"}}, "at most an hour"),
    ],
)
def test_bad_frames_are_refused(bottleneck: Mapping[str, Any], expected: str) -> None:
    """Frames that cannot be are one line with their key."""
    with pytest.raises(InputError) as caught:
        sojourn.run(from_data(given(bottleneck), "a scenario"))
    assert expected in str(caught.value)
