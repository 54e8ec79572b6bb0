"""Exported runs as read by other tools: captures by tshark, data files by Flent."""

import gzip
import importlib.util
import json
import struct
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from captures import frames, needs_tshark
from conftest import Capture, complaint
from sojourn import _engine, exports, specification
from sojourn.analysis.result import Result
from sojourn.api import single_run
from sojourn.cli.commands import status
from sojourn.runs import Run
from sojourn.scenario import Scenario

needs_flent = pytest.mark.skipif(
    importlib.util.find_spec("flent") is None or importlib.util.find_spec("matplotlib") is None,
    reason="Flent is not installed: its data files are not checked",
)

ScenarioFile = Callable[..., Path]

#: A filter for frames that tshark finds wrong, with all checksums verified.
COMPLAINTS = (
    "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0 "
    "|| _ws.expert.severity == error || tcp.analysis.ack_lost_segment || tcp.analysis.zero_window || ip.bogus_header_length"
)

OTHER_LINKS = ("a->left", "left->a", "right->left", "right->b", "b->right")

#: A scenario with losses at a short queue, whose second flow ends.
LOSSY = (
    ('queue = { name = "codel", limit = "100 packets" }', 'queue = { name = "droptail", limit = "15 packets" }'),
    ('warm_up = "1 s"', 'warm_up = "0 s"'),
    ("count = 2\n", 'size = "800 kB"\nstart = "1 s"\n'),
    ('[[flows]]\nfrom = "a"', '[[flows]]\nfrom = "a"\nto = "b"\ntcp = "cubic"\n\n[[flows]]\nfrom = "a"'),
)


def exported(file: Path, capture: Path, *options: str) -> Path:
    assert status(["export", str(file), "--format", "pcapng", "--out", str(capture), *options]) == 0
    return capture


def measured(file: Path) -> Result:
    return sojourn.run(file)


@needs_tshark
@pytest.mark.parametrize("link", ["left->right", *(pytest.param(link, marks=pytest.mark.long) for link in OTHER_LINKS)])
def test_tshark_accepts_all_frames(link: str, scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """tshark finds no malformed frame, wrong checksum or error in the capture of any link."""
    file = scenario_file(*LOSSY)
    assert {"left->right", *OTHER_LINKS} == set(exports.link_names(single_run(file).specification))
    capture = exported(file, tmp_path / "all.pcapng", "--link", link)
    assert frames(capture, COMPLAINTS) == []
    assert len(frames(capture, "tcp")) > 1000


@needs_tshark
def test_handshake_options(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """SYNs carry the stack's options (RFC 6691; RFC 2018 section 2; RFC 7323: a window of 16 MiB needs a shift of 9)."""
    capture = exported(scenario_file(*LOSSY), tmp_path / "a.pcapng", "--link", "a->left")
    options = ("tcp.options.mss_val", "tcp.options.sack_perm", "tcp.options.wscale.shift", "tcp.options.timestamp.tsval")
    fields = ("ip.src_host", "tcp.flags", "tcp.len", "tcp.ack", "tcp.stream", "tcp.hdr_len", "tcp.completeness", *options)
    rows = frames(capture, "tcp", *fields)
    syns = [row for row in rows if int(row["tcp.flags"], 16) & 2]
    assert [(syn["ip.src_host"], syn["tcp.ack"]) for syn in syns] == [("a", "0"), ("b", "1")] * 2
    for syn in syns:
        assert (syn["tcp.len"], syn["tcp.hdr_len"]) == ("0", "40")
        assert syn["tcp.options.mss_val"] == "1460"  # RFC 6691 section 2: without subtracting options
        assert syn["tcp.options.sack_perm"] != ""
        assert syn["tcp.options.wscale.shift"] == "9"
    # Bits 1, 2, 4 and 8 of the completeness are SYN, SYN-ACK, ACK and data; 16 is the FIN, which only the short flow sends.
    completeness = {row["tcp.stream"]: int(row["tcp.completeness"]) for row in rows}
    assert {stream: value & 27 for stream, value in completeness.items()} == {"0": 11, "1": 27}


@needs_tshark
def test_tshark_counts_retransmissions(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """On the sender's link, before any loss, tshark finds as many retransmissions as the run counts."""
    file = scenario_file(*LOSSY)
    counted = measured(file).flows["retransmissions"].to_list()
    capture = exported(file, tmp_path / "a.pcapng", "--link", "a->left")
    found = frames(capture, "tcp.analysis.retransmission || tcp.analysis.out_of_order", "tcp.stream")
    assert sum(counted) > 20
    assert [sum(row["tcp.stream"] == str(flow) for row in found) for flow in (0, 1)] == counted


#: Fields of SACK blocks: their left and right edges, and how many there are.
SACK = ("_le", "_re", ".count")


@needs_tshark
def test_sack_blocks(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """SACK blocks are above the ACK number, have the edges of segments sent, and are at most three an ACK."""
    capture = exported(scenario_file(*LOSSY), tmp_path / "a.pcapng", "--link", "a->left")
    fields = ("tcp.stream", "tcp.len", "tcp.seq", "tcp.nxtseq", "tcp.ack", *(f"tcp.options.sack{which}" for which in SACK))
    rows = frames(capture, "tcp", *fields)
    sent = [row for row in rows if row["tcp.len"] != "0"]
    edges = {(row["tcp.stream"], int(row[edge])) for row in sent for edge in ("tcp.seq", "tcp.nxtseq")}
    answers = [row for row in rows if row["tcp.options.sack_le"]]
    assert len(answers) > 50
    for answer in answers:
        lefts, rights = (answer[f"tcp.options.sack_{side}"].split(",") for side in ("le", "re"))
        assert len(lefts) == int(answer["tcp.options.sack.count"]) <= 3
        for left, right in zip(lefts, rights, strict=True):
            assert int(answer["tcp.ack"]) < int(left) < int(right)
            assert {(answer["tcp.stream"], int(left)), (answer["tcp.stream"], int(right))} <= edges


@needs_tshark
def test_capture_matches_queue(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """The packets and bytes of a link's capture are those that its queue sent."""
    file = scenario_file(*LOSSY)
    result = measured(file)
    capture = exported(file, tmp_path / "left.pcapng")
    sizes = [int(row["ip.len"]) for row in frames(capture, "frame.p2p_dir == 0 || ip.src_host == a", "ip.len")]
    queue = result.queues.row(0, named=True)
    # At the end, a packet that has left the queue may still be in transmission.
    assert 0 <= queue["departures"] - len(sizes) <= 1
    assert 0 <= queue["bytes_sent"] - sum(sizes) <= 1500
    missing = frames(capture, "tcp.analysis.lost_segment")
    assert 0 < len(missing) <= queue["drops"]


@needs_tshark
def test_ecn_marks_and_echoes(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """RFC 3168: SYNs negotiate ECN, CoDel's marks are CE, and CWR answers ECE."""
    ecn = ('"100 packets"', '"100 packets", ecn = true'), ('warm_up = "1 s"', 'warm_up = "0 s"\nstack = { ecn = "classic" }')
    file = scenario_file(*ecn)
    marks = measured(file).queues["marks"].item()
    capture = exported(file, tmp_path / "left.pcapng")
    rows = frames(capture, "tcp", "ip.src_host", "ip.dsfield.ecn", "tcp.flags")
    syn, ack, ece, cwr = 0x02, 0x10, 0x40, 0x80
    opening = [bits & (syn | ack | ece | cwr) for row in rows if (bits := int(row["tcp.flags"], 16)) & syn]
    later = [(row["ip.src_host"], bits) for row in rows if not (bits := int(row["tcp.flags"], 16)) & syn]
    assert marks > 5
    assert sum(int(row["ip.dsfield.ecn"], 0) == 3 for row in rows) in (marks - 1, marks)
    assert sorted(opening) == [syn | ack | ece] * 2 + [syn | ece | cwr] * 2
    assert sum(source == "b" and bits & ece > 0 for source, bits in later) > marks
    assert sum(source == "a" and bits & cwr > 0 for source, bits in later) > 5
    assert frames(capture, COMPLAINTS) == []


@needs_tshark
def test_accurate_ecn_counter(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """RFC 9768 section 3.2.1: the ACE field starts at 5 and counts modulo 8; its bits are AE, CWR and ECE."""
    accurate = (
        ('"100 packets"', '"100 packets", ecn = true'),
        ('warm_up = "1 s"', 'warm_up = "0 s"\nstack = { ecn = "accurate" }'),
        ("count = 2\n", ""),
    )
    file = scenario_file(*accurate)
    capture = exported(file, tmp_path / "left.pcapng")
    rows = frames(capture, "tcp", "ip.src_host", "ip.dsfield.ecn", "tcp.flags")
    flags = [(row["ip.src_host"], int(row["tcp.flags"], 16)) for row in rows]
    assert [bits >> 6 & 7 for _, bits in flags if bits & 2] == [7, 2]
    answers = [bits >> 6 & 7 for source, bits in flags if source == "b" and not bits & 2]
    steps = [(after - before) % 8 for before, after in pairwise(answers)]
    assert answers[0] == 5
    marks = sum(int(row["ip.dsfield.ecn"], 0) == 3 for row in rows)
    assert marks > 3
    # Marks of the last round trip have not been echoed yet.
    assert marks - 2 <= sum(steps) <= marks


@needs_tshark
def test_rate_based_sources_are_udp(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """Constant-rate sources and TFRC are UDP datagrams of the right sizes and rate."""
    sources = (
        ('tcp = "newreno"', 'start = "0 s"\ntcp = { name = "cbr", rate = "1 Mbit/s", packet_size = "200 B" }'),
        ('[[flows]]\nfrom = "a"', '[[flows]]\nfrom = "a"\nto = "b"\ntcp = "tfrc"\n\n[[flows]]\nfrom = "a"'),
    )
    capture = exported(scenario_file(*sources), tmp_path / "left.pcapng")
    assert frames(capture, COMPLAINTS) == []
    rows = frames(capture, "ip", "ip.src_host", "ip.proto", "ip.len", "udp.srcport", "udp.length", "udp.dstport")
    assert {row["ip.proto"] for row in rows} == {"17"}
    calls = [row for row in rows if row["udp.srcport"] == "49153"]
    assert {(row["ip.len"], row["udp.length"], row["udp.dstport"]) for row in calls} == {("200", "180", "9")}
    assert len(calls) == pytest.approx(4 * 1e6 / 1600, rel=0.02)
    assert sum(row["ip.src_host"] == "b" for row in rows) > 10  # TFRC's feedback


@needs_tshark
def test_udp_numbers(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """Calls are numbered from 0 with their sending times, every 1.6 ms, as iperf 2 writes them; dropped numbers are missing."""
    calls = ('tcp = "newreno"', 'tcp = { name = "cbr", rate = "1 Mbit/s", packet_size = "200 B" }')
    file = scenario_file(*LOSSY, calls)
    seen = []
    for link in ("a->left", "left->right"):
        capture = exported(file, tmp_path / "calls.pcapng", "--link", link)
        payloads = [bytes.fromhex(row["udp.payload"]) for row in frames(capture, "udp", "udp.payload")]
        seen.append([struct.unpack(">III", payload[:12]) for payload in payloads])
    sent, departed = seen
    assert [number for number, *_ in sent] == list(range(1875))
    assert {(seconds * 10**6 + microseconds) - 1600 * number for number, seconds, microseconds in sent} == {10**6}
    (queue,) = measured(file).queues.filter(link="left->right").iter_rows(named=True)
    tcp_drops = queue["drops"] - (len(sent) - len(departed))
    assert len(departed) < len(sent)
    assert tcp_drops >= 0
    assert departed == sorted(set(sent) & set(departed))


@needs_tshark
def test_others_packets_are_written(scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    """Packets that another backend has seen are in a capture as they were, with their times, directions and lengths."""
    # An acknowledgement of 40 bytes from 10.0.0.1 to 10.0.0.4, and the first 40 bytes of a segment of 1500 back.
    there, back = (
        struct.pack(
            ">BBHHHBBH4B4BHHIIBBHHH",
            0x45,
            0,
            length,
            7,
            0,
            64,
            6,
            0,
            10,
            0,
            0,
            left,
            10,
            0,
            0,
            right,
            *ports,
            9,
            5,
            80,
            16,
            *rest,
        )
        for length, left, right, ports, rest in ((40, 1, 4, (49152, 9), (9, 0, 0)), (1500, 4, 1, (9, 49152), (9, 0, 0)))
    )
    seen = [(1_000_000_007, True, 40, there), (2_500_000_000, False, 1500, back)]
    capture = tmp_path / "seen.pcapng"
    assert _engine.write_packets(specification.text(specification.specify(scenario(), 1)), 0, str(capture), "by hand", seen) == 2
    rows = frames(capture, "tcp", "frame.time_epoch", "frame.p2p_dir", "ip.len", "tcp.srcport", "frame.cap_len")
    assert [tuple(row.values())[1:] for row in rows] == [
        ("1.000000007", "0", "40", "49152", "40"),
        ("2.500000000", "1", "1500", "9", "40"),
    ]
    assert b"by hand" in capture.read_bytes()


def test_captures_are_reproducible(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """A capture has the same bytes every time, contains its command and leaves no temporary file."""
    file = scenario_file()
    first, second = (exported(file, tmp_path / "a.pcapng", "--seed", "7").read_bytes() for _ in range(2))
    assert first == second
    assert f"sojourn export {file} --format pcapng --out {tmp_path / 'a.pcapng'} --seed 7".encode() in first
    assert sorted(path.name for path in tmp_path.iterdir() if path != file) == ["a.pcapng"]


def tcp_info_of(file: Path) -> tuple[Run, pl.DataFrame]:
    run = single_run(file)
    return run, exports.tcp_info(run)


def test_final_tcp_info_matches_results(scenario_file: ScenarioFile) -> None:
    """The last row of tcp_info agrees with the results of each flow."""
    file = scenario_file(*LOSSY)
    _, info = tcp_info_of(file)
    flows = measured(file).flows
    last = info.group_by("flow", maintain_order=True).last()
    assert last["tcpi_total_retrans"].to_list() == flows["retransmissions"].to_list()
    assert last["tcpi_data_segs_out"].to_list() == flows["segments_sent"].to_list()
    for micro, seconds in zip(last["tcpi_min_rtt"], flows["rtt_min"], strict=True):
        assert micro == pytest.approx(seconds * 1e6, abs=1)
    assert last["tcpi_state"].to_list() == [1, 5]
    assert last["tcpi_bytes_acked"][1] == 800_000
    assert 0 <= flows["total_bytes_delivered"][0] - last["tcpi_bytes_acked"][0] < 100_000


def test_tcp_info_matches_series(scenario_file: ScenarioFile) -> None:
    """tcp_info has the window of the series at each sample; an event at the same instant may fall on either side."""
    probe = ('tcp = "newreno"\n', 'tcp = "newreno"\n[probe]\nflow_series = "50 ms"\n')
    file = scenario_file(*LOSSY, probe)
    _, info = tcp_info_of(file)
    series = measured(file).series.filter(kind="flow", measure="cwnd").select("time", pl.col("which").cast(pl.UInt32), "value")
    both = info.join(series, left_on=["time_s", "flow"], right_on=["time", "which"])
    assert both.height == 2 * 80
    same = both.filter(pl.col("tcpi_snd_cwnd") == (pl.col("value") // pl.col("tcpi_snd_mss")).cast(pl.UInt64))
    assert same.height >= both.height - 2


def test_tcp_info_invariants(scenario_file: ScenarioFile) -> None:
    """Linux's invariants: counters never fall, sacked + lost <= unacked, rtt >= min_rtt, known CA states."""
    _, info = tcp_info_of(scenario_file(*LOSSY))
    for flow in info.partition_by("flow"):
        for count in ("tcpi_bytes_acked", "tcpi_total_retrans", "tcpi_data_segs_out"):
            assert flow[count].is_sorted()
        assert (flow["tcpi_sacked"] + flow["tcpi_lost"] <= flow["tcpi_unacked"]).all()
        assert (flow["tcpi_rtt"] >= flow["tcpi_min_rtt"]).drop_nulls().all()
        assert flow["tcpi_snd_ssthresh"][0] == 0x7FFFFFFF
        assert set(flow["tcpi_ca_state"]) <= {0, 3, 4}
        assert 3 in flow["tcpi_ca_state"]


def test_tcp_info_files(scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """tcp_info is one CSV file for each connection, and existing files are not overwritten."""
    out = tmp_path / "info"
    file = scenario_file(("count = 2\n", "count = 3\n"))
    assert status(["export", str(file), "--format", "tcp-info", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"wrote 3 connections to {out}, one file each\n"
    assert sorted(path.name for path in out.iterdir()) == ["flow-0.csv", "flow-1.csv", "flow-2.csv"]
    table = pl.read_csv(out / "flow-2.csv")
    assert table.columns[:2] == ["time_s", "tcpi_state"]
    assert table.height == 41
    assert status(["export", str(file), "--format", "tcp-info", "--out", str(out)]) == 2
    assert 'holds "flow-' in complaint(capsys)


def flent_data(file: Path, out: Path) -> dict[str, Any]:
    assert status(["export", str(file), "--format", "flent", "--out", str(out)]) == 0
    data: dict[str, Any] = json.loads(gzip.decompress(out.read_bytes()))
    return data


def test_flent_throughputs_add_up(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """The throughput series of a Flent file add up to the bytes delivered."""
    file = scenario_file(*LOSSY)
    data = flent_data(file, tmp_path / "a.flent.gz")
    delivered = measured(file).flows["total_bytes_delivered"].to_list()
    step = data["metadata"]["STEP_SIZE"]
    for number, total in enumerate(delivered, start=1):
        rates = [rate for rate in data["results"][f"TCP upload::{number}"] if rate is not None]
        assert sum(rates) * step * 1e6 / 8 == pytest.approx(total)
    total_rates = [rate for rate in data["results"]["TCP upload sum"] if rate is not None]
    assert sum(total_rates) * step * 1e6 / 8 == pytest.approx(sum(delivered))
    pings = [ping for ping in data["results"]["Ping (ms) ICMP"] if ping is not None]
    assert min(pings) >= 14  # the path's delays
    assert {len(series) for series in data["results"].values()} == {len(data["x_values"])} == {40}


@needs_flent
@pytest.mark.parametrize(
    "plot",
    [
        "totals",
        *(pytest.param(plot, marks=pytest.mark.long) for plot in ("upload", "ping_cdf", "tcp_rtt", "tcp_cwnd", "box_totals")),
    ],
)
def test_flent_plots_export(plot: str, scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """Flent draws the exported file without an error or missing data."""
    data, picture = tmp_path / "a.flent.gz", tmp_path / "a.png"
    flent_data(scenario_file(*LOSSY), data)
    command = [sys.executable, "-m", "flent", "-i", str(data), "-p", plot, "-o", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": "/usr/bin"})
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr.casefold(), done.stderr
    assert "no data" not in done.stderr.casefold(), done.stderr
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "pcapng", "--link", "left->rihgt"], 'unknown link "left->rihgt", did you mean "left->right"?'),
        (["--format", "flent", "--link", "left->right"], "--link left->right: needs --format pcapng"),
        (["--format", "pcap"], "'pcapng'"),
        (["--format", "pcapng", "--set", "duraton=1"], "duraton"),
        (["--format", "pcapng", "--only", "tcp=cubic"], "tcp"),
    ],
)
def test_bad_input(options: list[str], message: str, scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """Bad options are a one-line error, and no file is written."""
    out = tmp_path / "out"
    assert status(["export", str(scenario_file()), "--out", str(out), *options]) == 2
    assert message in complaint(capsys)
    assert not out.exists()


def test_bad_output_path(scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """A missing directory, a directory for a file or a file for a directory is a one-line error."""
    file = str(scenario_file())
    for form in ("pcapng", "flent", "tcp-info"):
        assert status(["export", file, "--format", form, "--out", str(tmp_path / "no" / "out")]) == 2
        assert "no directory" in complaint(capsys)
    assert status(["export", file, "--format", "pcapng", "--out", str(tmp_path)]) == 2
    assert "a directory" in complaint(capsys)
    assert status(["export", file, "--format", "tcp-info", "--out", file]) == 2
    assert "a file; give a new or empty directory" in complaint(capsys)


def test_sweep_needs_one_cell(scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """A sweep needs `--only` to choose the cell to export, and the capture records it."""
    sweep = ('tcp = "newreno"\n', 'tcp = "newreno"\n[sweep.axes]\ntcp = { key = "flows.*.tcp", values = ["cubic", "bbr"] }\n')
    file, out = scenario_file(sweep), tmp_path / "a.pcapng"
    assert status(["export", str(file), "--format", "pcapng", "--out", str(out)]) == 2
    assert "--only" in complaint(capsys)
    exported(file, out, "--only", "tcp=bbr")
    assert b"--only tcp=bbr" in out.read_bytes()


def test_export_needs_connections(scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """Exports of connections need a TCP flow; otherwise the error is one line."""
    file = scenario_file(('tcp = "newreno"', 'tcp = "cbr"'))
    for form in ("flent", "tcp-info"):
        assert status(["export", str(file), "--format", form, "--out", str(tmp_path / "out")]) == 2
        assert "no flow is a TCP connection" in complaint(capsys)
        assert not (tmp_path / "out").exists()
