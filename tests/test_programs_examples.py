"""The examples of programs: each runs on a real kernel, shows what it says, and gives the same bytes beside busy processes."""

import contextlib
import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from captures import frames, needs_tshark
from sojourn.backends.linux.backend import Linux
from sojourn.backends.linux.programs import ENVIRONMENT
from sojourn.cli.commands import status
from sojourn.linux import cache, guest
from sojourn.scenario import from_data
from sojourn.store.outputs import FOLDER

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples/programs"

#: What each example needs of the machine: commands, or paths in the examples' folder.
NEEDS = {
    "call": ["python3"],
    "dns": ["dnsmasq", "python3"],
    "interop": ["aioquic/bin/python", "aioquic/aioquic-1.7.2/examples/http3_server.py", "python3"],
    "iperf3": ["iperf3"],
    "page": ["chromium", "python3"],
    "player": ["python3"],
    "quinn": ["quinn/bin/quinn-perf"],
    "quic": ["aioquic/bin/python", "python3", "curl"],
    "rsync": ["rsync"],
    "sip": ["baresip", "python3"],
    "ssh": ["sshd", "ssh", "ssh-keygen", "python3"],
    "web": ["nginx", "openssl", "curl"],
}

#: Kernels that run programs, whose guest is of this version of Sojourn.
KERNELS = [kernel for kernel in cache.kernels() if kernel.program == guest.program_digest() and kernel.has_seccomp]

kernel = pytest.mark.kernel

#: Processes that keep the processors busy.
BUSY = 8


def run(name: str, out: Path, *options: str) -> Path:
    """Runs an example into a directory, which is returned, or skips the test for want of a kernel or of a program."""
    if not KERNELS:
        pytest.skip("no Linux kernel from 6.16 on is built by this version; `sojourn linux build` makes one")
    missing = [need for need in NEEDS[name] if not is_there(need)]
    if missing:
        pytest.skip(f"{', '.join(missing)}: not installed")
    assert status(["run", str(EXAMPLES / f"{name}.toml"), "--backend", backend(), "--out", str(out), *options]) == 0
    return out


def backend() -> str:
    """The newest kernel."""
    return f"linux:{max(KERNELS, key=lambda kernel: kernel.numbers).name}"


def captured(name: str, file: Path, *options: str) -> Path:
    """The packets of a cell of an example, in a file, which is returned."""
    export = ["export", str(EXAMPLES / f"{name}.toml"), "--format", "pcapng", "--out", str(file), "--backend", backend()]
    assert status([*export, *options]) == 0
    return file


def is_there(need: str) -> bool:
    if "/" in need:
        return (EXAMPLES / need).exists()
    return shutil.which(need, path=ENVIRONMENT["PATH"]) is not None


@contextlib.contextmanager
def busy_processors() -> Iterator[None]:
    """Others keep the processors busy."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for process in others:
            process.kill()
            process.wait()


def contents(results: Path) -> dict[str, Any]:
    """All frames of a directory of results, and all files that programs wrote."""
    files = (path for path in (results / FOLDER).rglob("*") if path.is_file())
    tables = {path.name: pl.read_parquet(path).to_dicts() for path in results.glob("*.parquet")}
    return tables | {str(path.relative_to(results)): path.read_bytes() for path in files}


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The names of what differs between two results."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def programs(results: Path, name: str, *axes: str) -> dict[Any, dict[str, Any]]:
    """The rows of a program, by the values of axes."""
    rows = pl.read_parquet(results / "programs.parquet").filter(pl.col("name") == name).to_dicts()
    return {tuple(row[axis] for axis in axes) if len(axes) > 1 else row[axes[0]]: row for row in rows}


def printed(results: Path, name: str, *axes: str) -> dict[Any, dict[str, Any]]:
    """What a program printed as JSON, by the values of axes."""
    return {place: json.loads(row["output"]) for place, row in programs(results, name, *axes).items()}


def took(row: Mapping[str, Any]) -> float:
    """How long a program ran, in s of virtual time."""
    return float(row["end"] - row["start"])


def test_all_examples_are_here() -> None:
    """Each example has a test of its own, and is run twice."""
    assert sorted(path.stem for path in EXAMPLES.glob("*.toml")) == sorted(NEEDS)
    assert all(f"test_{name}" in globals() for name in NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_examples_load(name: str) -> None:
    """All cells of the examples are valid, and run programs."""
    assert all(cell.scenario.programs for cell in sojourn.expand(EXAMPLES / f"{name}.toml").cells())


@kernel
@pytest.mark.long
@pytest.mark.parametrize("name", NEEDS)
def test_same_bytes_beside_busy_processes(name: str, tmp_path: Path) -> None:
    """Frames, what programs write, and the packets of the bottleneck are the same twice, whatever else the machine does."""
    cell = next(iter(sojourn.expand(EXAMPLES / f"{name}.toml").cells()))
    only = [word for axis, value in cell.axes.items() for word in ("--only", f"{axis}={value}")]
    found = []
    for place, others in ((tmp_path / "alone", contextlib.nullcontext()), (tmp_path / "beside", busy_processors())):
        with others:
            results = contents(run(name, place, *only))
            found.append(results | {"capture": captured(name, tmp_path / "all.pcapng", *only).read_bytes()})
    assert any(file.startswith(FOLDER) for file in found[0])
    assert differences(*found) == []


@kernel
def test_iperf3(tmp_path: Path) -> None:
    """Behind a deep buffer BBR gets less than CUBIC; behind fq_codel all have their half, and iperf3 says what the kernel saw."""
    results = run("iperf3", tmp_path / "results")
    flows = pl.read_parquet(results / "groups.parquet").rows_by_key(["queue", "cc", "flow_group"], named=True, unique=True)
    rates = {place: row["total_mbps"] for place, row in flows.items()}
    cubic, other = "tcp server1-home:5201", "tcp server2-home:5202"
    assert rates["droptail", "bbr", other] < 0.5 * rates["droptail", "bbr", cubic], rates
    for cc in ("cubic", "bbr"):
        assert rates["fq_codel", cc, other] == pytest.approx(rates["fq_codel", cc, cubic], rel=0.1), rates
    rows = pl.read_parquet(results / "programs.parquet").to_dicts()
    assert {row["status"] for row in rows} == {0}


@kernel
@pytest.mark.parametrize("tcp", ["cubic", "bbr", "reno"])
@pytest.mark.parametrize("queue", ["droptail", "fq_codel"])
def test_iperf3_is_the_guests_own_flow(tcp: str, queue: str, tmp_path: Path) -> None:
    """On the same path iperf3 brings what a flow of the scenario does, within 1 %."""
    if not KERNELS or not is_there("iperf3"):
        pytest.skip("no Linux kernel from 6.16 on is built by this version, or iperf3 is not installed")
    network = {
        "senders": [{"name": "server", "rate": "1 Gbit/s", "delay": "15 ms"}],
        "receivers": [{"name": "home", "rate": "1 Gbit/s", "delay": "1 ms"}],
        "bottleneck": {"rate": "20 Mbit/s", "delay": "4 ms", "queue": {"name": queue, "limit": "200 packets"}},
    }
    data = {"name": "path", "duration": "30 s", "warm_up": "10 s", "network": {"dumbbell": network}}
    flow = {"from": "server", "to": "home", "tcp": "newreno" if tcp == "reno" else tcp, "start": "1 s"}
    programs = [
        {"at": "home", "run": "iperf3 --server"},
        {"at": "server", "run": f"iperf3 --client {{home}} --congestion {tcp} --time 60", "start": "1 s"},
    ]
    brought = []
    for traffic in ({"flows": [flow]}, {"programs": programs}):
        result = sojourn.run(from_data({**data, **traffic}, "test", tmp_path), backend=Linux(backend().partition(":")[2]))
        brought.append(result.flows["bytes_delivered"].max())
    assert brought[1] == pytest.approx(brought[0], rel=0.01)


@kernel
def test_page(tmp_path: Path) -> None:
    """A page is painted before it is loaded, and not before its HTML has come; behind fq_codel both are sooner."""
    rows = programs(run("page", tmp_path / "results"), "chromium", "queue")
    times = {queue: json.loads(row["output"].partition("<body>")[2].partition("</body>")[0]) for queue, row in rows.items()}
    for queue, each in times.items():
        # Connection and request take a round trip of 40 ms each.
        assert 80 <= each["first_paint_ms"] <= each["first_contentful_paint_ms"] <= each["load_ms"], times
        assert each["load_ms"] <= 1000 * took(rows[queue]), times
    assert times["fq_codel"]["load_ms"] < 0.5 * times["droptail"]["load_ms"], times
    assert times["fq_codel"]["first_paint_ms"] < 0.5 * times["droptail"]["first_paint_ms"], times


@kernel
def test_web(tmp_path: Path) -> None:
    """A page takes at least its bytes' time on the line; HTTP/2 is no slower than HTTP/1.1, nor fq_codel than a deep buffer."""
    rows = programs(run("web", tmp_path / "results"), "curl", "queue", "http")
    times = {place: took(row) for place, row in rows.items()}
    assert min(times.values()) > 100 * 12000 * 8 / 20e6, times
    for http in ("http1.1", "http2"):
        assert times["fq_codel", http] < 0.5 * times["droptail", http], times
    for queue in ("droptail", "fq_codel"):
        assert times[queue, "http2"] < 1.05 * times[queue, "http1.1"], times


@kernel
def test_quic(tmp_path: Path) -> None:
    """A handshake takes one round trip, 40 ms and what the queue adds; QUIC and TCP bring all bytes; the log is kept."""
    results = run("quic", tmp_path / "results")
    quic, curl = printed(results, "quic", "queue"), printed(results, "curl", "queue")
    assert {each["bytes"] for each in quic.values()} == {each["size_download"] for each in curl.values()} == {300000}
    assert 40 <= quic["fq_codel"]["handshake_ms"] < 45, quic
    assert quic["droptail"]["handshake_ms"] > 80, quic
    assert quic["fq_codel"]["transfer_ms"] < 0.5 * quic["droptail"]["transfer_ms"], quic
    assert curl["fq_codel"]["time_total"] < 0.5 * curl["droptail"]["time_total"], curl
    logs = list(results.rglob("*.qlog"))
    assert len(logs) == 2
    assert all(json.loads(log.read_text())["traces"] for log in logs)


@kernel
def test_quinn(tmp_path: Path) -> None:
    """Behind fq_codel QUIC and TCP have half of the line each, whatever QUIC's congestion control; without it BBR has more."""
    results = run("quinn", tmp_path / "results")
    flows = pl.read_parquet(results / "groups.parquet").rows_by_key(["queue", "cc", "flow_group"], named=True, unique=True)
    tcp = {place[:2]: row["link_share_pct"] for place, row in flows.items() if place[2] == "tcp"}
    quic = {
        place[:2]: row["link_share_pct"] for place, row in flows.items() if row["algorithm"] == "quic" and "web:4433-" in place[2]
    }
    for cc in ("cubic", "bbr"):
        assert tcp["fq_codel", cc] == pytest.approx(50, abs=5), tcp
        assert quic["fq_codel", cc] == pytest.approx(50, abs=5), quic
    assert quic["droptail", "bbr"] > 2 * tcp["droptail", "bbr"], (quic, tcp)


#: Of each kind of check that a test case of the interop runner has, one that does not take long.
SHORT_CASES = ["longrtt", "retry", "resumption", "zerortt", "amplificationlimit", "v2"]


@kernel
@pytest.mark.parametrize("client", ["aioquic", "quic-go"])
@pytest.mark.parametrize("server", ["aioquic", "quic-go"])
def test_interop(client: str, server: str, tmp_path: Path) -> None:
    """Stacks pass the test cases that they have, but that a FIFO of 25 packets is too short for the burst of aioquic's 0-RTT."""
    if "quic-go" in (client, server) and not (is_there("quic-go/client") and is_there("quic-go/server")):
        pytest.skip("quic-go/client, quic-go/server: not installed")
    only = [f"client={client}", f"server={server}", *(f"case={name}" for name in SHORT_CASES)]
    results = run("interop", tmp_path / "results", *(word for each in only for word in ("--only", each)))
    found = printed(results, "client", "case", "queue")
    assert len(found) == 4 * len(SHORT_CASES)
    others = {("zerortt", "droptail"): "failed"} if client == "aioquic" else {}
    if "quic-go" in (client, server):
        others |= {("v2", queue): "unsupported" for _, queue in found}
    assert {place: each["result"] for place, each in found.items()} == {place: others.get(place, "succeeded") for place in found}
    # A handshake and a request take a round trip each.
    assert all(found["longrtt", queue]["seconds"] > 3 for _, queue in found), found


def test_keys_of_a_first_flight_are_those_of_the_rfc(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 9001, appendix A.1: keys of the client's Initial packets, from its secret."""
    pytest.importorskip("cryptography")
    monkeypatch.syspath_prepend(EXAMPLES)
    packets = importlib.import_module("interop.packets")
    secret = bytes.fromhex("c00cf151ca5be075ed0ebfb5c80323c42d6b7db67881289af4008f1f6c357aea")
    keys = {
        label: packets.expanded(secret, label, size).hex() for label, size in (("quic key", 16), ("quic iv", 12), ("quic hp", 16))
    }
    assert keys == {
        "quic key": "1f369613dd76d5467730efcbe3b1a22d",
        "quic iv": "fa044b2f42a3fd3b46fb255c",
        "quic hp": "9f50449e04a0e810283a1e9933adedd2",
    }


@kernel
def test_player(tmp_path: Path) -> None:
    """Behind fq_codel a player has its half of the line, so that it plays the highest rate below that and does not stall."""
    played = printed(run("player", tmp_path / "results"), "player", "queue")
    assert played["fq_codel"]["stalls"] == 0, played
    assert max(played["fq_codel"]["rates_kbit_s"]) == 2850, played
    assert played["droptail"]["mean_kbit_s"] < 0.5 * played["fq_codel"]["mean_kbit_s"], played
    assert played["droptail"]["startup_s"] > 2 * played["fq_codel"]["startup_s"], played


@kernel
def test_ssh(tmp_path: Path) -> None:
    """Each letter has its echo, after one round trip behind fq_codel, and after that and the queue behind a deep buffer."""
    echoes = printed(run("ssh", tmp_path / "results"), "typing", "queue")
    assert {each["letters"] for each in echoes.values()} == {60}
    assert 40 <= echoes["fq_codel"]["median_ms"] < 50, echoes
    assert echoes["droptail"]["median_ms"] > 100, echoes


@kernel
def test_dns(tmp_path: Path) -> None:
    """Lookups take one round trip behind fq_codel on both ways, and more than twice that if either way has a deep buffer."""
    lookups = printed(run("dns", tmp_path / "results"), "lookups", "down", "up")
    times = {ways: each["median_ms"] for ways, each in lookups.items()}
    best = times.pop(("fq_codel", "fq_codel"))
    assert 40 <= best < 60, best
    assert min(times.values()) > 2 * best, times


@kernel
def test_rsync(tmp_path: Path) -> None:
    """Copies are the same as what was copied, or the script fails; they are there sooner if acknowledgements do not wait."""
    rows = programs(run("rsync", tmp_path / "results"), "rsync", "queue")
    times = {queue: [int(line.split()[1]) for line in row["output"].splitlines()] for queue, row in rows.items()}
    assert all(changed < all_files for all_files, changed in times.values()), times
    assert all(few < many for few, many in zip(times["fq_codel"], times["droptail"], strict=True)), times


@kernel
def test_call(tmp_path: Path) -> None:
    """Behind fq_codel nothing is lost or late, and packets take the path's 20 ms; behind a deep buffer most are late."""
    heard = printed(run("call", tmp_path / "results"), "listener", "queue")
    assert heard["fq_codel"]["lost"] == heard["fq_codel"]["late"] == 0, heard
    assert 20 <= heard["fq_codel"]["mean_delay_ms"] < 21, heard
    assert heard["droptail"]["late"] > heard["droptail"]["packets"] / 2, heard


@kernel
def test_sip(tmp_path: Path) -> None:
    """What RTCP reports as lost the queue has dropped; behind fq_codel nothing is, and RTP takes the path's 20 ms both ways."""
    results = run("sip", tmp_path / "results")
    calls = {queue: row["output"].splitlines() for queue, row in programs(results, "caller", "queue").items()}
    said = {queue: int(next(line for line in lines if line.startswith("lost:")).split()[1]) for queue, lines in calls.items()}
    assert all(any("Call established" in line for line in lines) for lines in calls.values()), calls
    flows = pl.read_parquet(results / "flows.parquet").filter(pl.col("algorithm") == "udp", pl.col("bytes_delivered") > 100_000)
    ways = flows.rows_by_key(["queue", "sender"], named=True, unique=True)
    assert said == {queue: ways[queue, "caller"]["packets_dropped"] for queue in calls}
    assert said["fq_codel"] == 0 < said["droptail"]
    for queue in calls:
        assert 0.020 <= ways[queue, "home"]["delay_mean"] < 0.021, ways
    assert 0.020 <= ways["fq_codel", "caller"]["delay_mean"] < 0.021, ways
    assert ways["droptail", "caller"]["delay_mean"] > 0.1, ways


@kernel
@needs_tshark
def test_captures_have_packets_of_programs(tmp_path: Path) -> None:
    """A capture of a call's line has all packets that the listener did not miss, and the download's under their usual port."""
    results = run("call", tmp_path / "results", "--only", "queue=droptail")
    heard = printed(results, "listener", "queue")["droptail"]
    packets = captured("call", tmp_path / "call.pcapng", "--only", "queue=droptail")
    assert len(frames(packets, "udp.dstport == 5004", "ip.len")) == heard["packets"] - heard["lost"]
    assert frames(packets, "tcp.dstport == 9", "ip.len")
