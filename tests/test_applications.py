"""Applications over TCP: what a scenario says of video and of messages at equal times, and what a result does."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import Capture
from sojourn import _engine, catalogue
from sojourn.analysis.result import Result
from sojourn.campaign import randomness
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.metrics import METRICS
from sojourn.scenario import Scenario, from_data
from sojourn.specification import specify, text

LADDER = ["1 Mbit/s", "2 Mbit/s", "4 Mbit/s"]
VIDEO = {"rule": "throughput", "ladder": LADDER, "segment": "1 s", "buffer": "10 s"}


def given(*flows: Mapping[str, Any], rate: str = "3 Mbit/s") -> dict[str, Any]:
    link = {"from": "server", "to": "viewer", "rate": rate, "delay": "10 ms", "queue": "fq_codel"}
    entries = [{"from": "server", "to": "viewer", "tcp": "cubic", "start": "0 s", **flow} for flow in flows]
    return {"name": "applications", "duration": "30 s", "network": {"links": [link]}, "flows": entries}


def watched(video: Mapping[str, Any] = VIDEO, **flow: Any) -> dict[str, Any]:
    return {"video": video, "group": "video", **flow}


@pytest.fixture(scope="module")
def result() -> Result:
    """Two viewers at the bit rates that 3 Mbit/s carry, and a download beside them."""
    return sojourn.run(Scenario.of(given(watched(count=2), {"group": "download"})))


def test_viewer_in_flows(result: Result) -> None:
    """A viewer's wait, play and stalls are the time from the start to the end; other flows have no such values."""
    viewers = result.flows.filter(flow_group="video")
    assert viewers.height == 2
    for seen in viewers.rows(named=True):
        assert seen["video_start_delay"] + seen["video_played"] + seen["video_stalled"] == pytest.approx(30)
        assert 1 <= seen["video_mbps"] <= 4
    download = result.flows.filter(flow_group="download").row(0, named=True)
    assert [download[column] for column in download if column.startswith("video_")] == [None] * 6


def test_metrics_of_viewers(result: Result) -> None:
    """The metrics are means over what played, ratios of sums, and null for a group without viewers."""
    groups = {row["flow_group"]: row for row in result.groups.rows(named=True)}
    one, other = result.flows.filter(flow_group="video").rows(named=True)
    played = one["video_played"] + other["video_played"]
    stalled = one["video_stalled"] + other["video_stalled"]
    rate = (one["video_mbps"] * one["video_played"] + other["video_mbps"] * other["video_played"]) / played
    expected = {
        "video_mbps": rate,
        "video_stalled_pct": 100 * stalled / (stalled + played),
        "video_stalls_per_hour": 3600 * (one["video_stalls"] + other["video_stalls"]) / played,
        "video_switches_per_minute": 60 * (one["video_switches"] + other["video_switches"]) / played,
        "video_start_delay_s": (one["video_start_delay"] + other["video_start_delay"]) / 2,
    }
    assert {name for name in METRICS if name.startswith("video_")} == expected.keys()
    run = result.runs.row(0, named=True)
    for name, value in expected.items():
        assert groups["video"][name] == run[name] == pytest.approx(value)
        assert groups["download"][name] is None


def test_viewers_are_not_long_lived() -> None:
    """A viewer wants what the video has, so that only the download counts in indices of fairness."""
    assert _engine.long_lived(text(specify(Scenario.of(given(watched(count=2), {})), 1))) == [False, True]


def test_video_of_a_specification() -> None:
    """Defaults are those of the papers: Pensieve's video and buffer, and BBA-0's map in proportion to the buffer."""
    found = specify(Scenario.of(given(watched({"rule": "bba0"}), watched({"rule": "bba0", "buffer": "240 s"}))), 1)["flows"]
    small, whole = (flow["application"]["video"] for flow in found)
    assert small["ladder"] == [300_000, 750_000, 1_200_000, 1_850_000, 2_850_000, 4_300_000]
    second = 10**12
    assert (small["segment"], small["buffer"], small["start_after"]) == (4 * second, 60 * second, 4 * second)
    assert whole["rule"] == {"bba0": {"reservoir": 90 * second, "cushion": 126 * second}}
    assert small["rule"] == {"bba0": {"reservoir": 22.5 * second, "cushion": 31.5 * second}}


def test_what_is_random() -> None:
    """Nothing of video is drawn; sizes of messages may be."""
    sizes = {"distribution": "exponential", "mean": "1 kB"}
    overhead = {"sender_overhead": "0 s"}
    plain, drawn = (
        randomness.parts(specify(Scenario.of(given(flow) | overhead), 1))
        for flow in (watched({"rule": "bba0"}), {"periodic": {"size": sizes, "every": "1 s"}})
    )
    assert "sessions" not in dict(plain)
    assert "sessions" in dict(drawn)


def test_rate_of_messages() -> None:
    """Messages at a rate are as far apart as they take at it."""
    messages = {"periodic": {"size": "1500 B", "rate": "3 Mbit/s"}}
    (flow,) = specify(Scenario.of(given(messages)), 1)["flows"]
    assert flow["application"] == {"periodic": {"size": {"fixed": 1500}, "every": 4 * 10**9}}


def test_messages_in_transfers() -> None:
    """Each message is a row of transfers, with how long it took from its write to its arrival."""
    messages = {"periodic": {"size": "1 kB", "every": "1 s"}}
    found = sojourn.run(Scenario.of(given(messages) | {"sender_overhead": "0 s"}))
    rows = found.transfers
    assert rows["bytes"].to_list() == [1000] * 30
    assert found.flows["transfers_completed"].to_list() == [30]
    assert rows["start"].diff().drop_nulls().to_list() == pytest.approx([1.0] * 29)
    # One way of 10 ms, and 1052 bytes at 3 Mbit/s.
    assert rows["completion_time"].to_list() == pytest.approx([0.010 + 1052 * 8 / 3e6] * 30, abs=1e-9)


def test_sizes_of_segments(tmp_path: Path) -> None:
    """Sizes from a file say the bit rates too: of each column the mean; each segment has the bytes of its row."""
    (tmp_path / "movie.csv").write_text("240p,480p\n100000,300000\n50000,200000\n150000,400000\n")
    video = {"rule": "bba1", "sizes": "movie.csv", "segment": "1 s", "buffer": "10 s", "length": "6 s"}
    scenario = Scenario.of(given(watched(video)), tmp_path)
    found = specify(scenario, 1)["flows"][0]["application"]["video"]
    assert (found["ladder"], found["sizes"][1]) == ([800_000, 2_400_000], (50_000, 200_000))
    result = sojourn.run(scenario)
    rows = [(100_000, 300_000), (50_000, 200_000), (150_000, 400_000)] * 2
    fetched = result.transfers["bytes"].to_list()
    assert len(fetched) == 6
    assert all(size in row for size, row in zip(fetched, rows, strict=True))
    assert result.flows["bytes_delivered"].item() == sum(fetched)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("low,high\n1000\n", "line 2: 1 values instead of 2"),
        ("low,high\n1000,x\n", 'line 2: "x" is not a number'),
        ("low,high\n1000,2000.5\n", "line 2: a segment must have a whole number of bytes, 1 or more"),
        ("low,high\n0,2000\n", "line 2: a segment must have a whole number of bytes, 1 or more"),
        ("low,high\n2000,1000\n", "column 2 has no more bytes than the one before; bit rates must ascend"),
        ("low,high\n", "has no rows"),
    ],
)
def test_impossible_sizes(text: str, line: str, tmp_path: Path) -> None:
    """A file that is none of segments is refused with its name and the line."""
    (tmp_path / "movie.csv").write_text(text)
    with pytest.raises(InputError) as raised:
        from_data(given(watched({"rule": "bba1", "sizes": "movie.csv"})), "applications", tmp_path)
    assert str(raised.value).startswith('applications: flows[0].video.sizes: "movie.csv"')
    assert line in str(raised.value)


def test_rules_are_in_the_catalogue(capsys: Capture) -> None:
    """Each rule of the catalogue chooses bit rates of a video, and is listed and described with its source."""
    for rule in catalogue.load().video_rules:
        assert specify(Scenario.of(given(watched({**VIDEO, "rule": rule.name}))), 1)
        assert status(["list", "video"]) == 0
        assert rule.name in capsys.readouterr().out
        assert status(["describe", rule.name]) == 0
        described = capsys.readouterr().out
        assert "rule of video" in described
        assert rule.source.split(",")[0] in described


@pytest.mark.parametrize(
    ("flow", "line"),
    [
        (watched({**VIDEO, "sizes": "movie.csv"}), "cannot read"),
        (watched({**VIDEO, "rule": "fastest"}), r"video\.rule: .*bba0.*bba1.*bba2.*bola.*throughput"),
        (watched({**VIDEO, "ladder": []}), r"video\.ladder: "),
        (watched({**VIDEO, "ladder": LADDER[::-1]}), "ladder: bit rates must ascend"),
        (watched({**VIDEO, "ladder": ["0 bit/s"]}), "must be greater than 0"),
        (watched({**VIDEO, "segment": "0 s"}), r"video\.segment: .* must be greater than 0"),
        (watched({**VIDEO, "buffer": "500 ms"}), 'buffer: must hold a segment, "1 s"'),
        (watched({**VIDEO, "start_after": "11 s"}), 'start_after: the buffer holds "10 s"'),
        (watched({**VIDEO, "reservoir": "5 s"}), "reservoir: only bba0 has one"),
        (watched({**VIDEO, "rule": "bba0", "cushion": "9 s"}), r'together "12750 ms", but the buffer holds "10 s"'),
        (watched({"ladder": LADDER}), "rule: "),
        (watched(tcp="voice"), "video: voice opens no connection"),
        (watched(size="1 MB"), "size: the video says how much is sent"),
        (watched(arrivals={"process": "poisson", "rate": 1.0}), 'video: a session without "length" never ends'),
        (
            {"periodic": {"size": "1 kB", "every": "1 s"}, "arrivals": {"process": "poisson", "rate": 1.0}},
            "periodic: a session never ends",
        ),
        ({"page": {"objects": 1}, **watched()}, 'video: give either "video" or "page"'),
        ({"periodic": {"size": "1 kB"}}, 'give either "every" or "rate"'),
        ({"periodic": {"size": "1 kB", "every": "1 s", "rate": "1 Mbit/s"}}, 'give either "every" or "rate"'),
    ],
)
def test_impossible_applications(flow: dict[str, Any], line: str) -> None:
    """What cannot be is said in one line that names the key."""
    with pytest.raises(InputError, match=line) as raised:
        from_data(given(flow), "applications")
    assert "\n" not in str(raised.value)
