"""Programs as tests of other projects run them: what the module refuses, and its example on a real kernel."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from captures import frames, needs_tshark
from sojourn import backends, exports, programs
from sojourn.analysis import repetition
from sojourn.backends.linux import programs as of_plan
from sojourn.backends.linux import runaways
from sojourn.backends.linux.backend import Linux
from sojourn.campaign import randomness
from sojourn.errors import InputError, RunFailed
from sojourn.linux import cache, guest
from sojourn.runs import Run
from sojourn.scenario import Scenario, from_data
from sojourn.specification import specify
from sojourn.store import outputs
from sojourn.sweeps import estimate

EXAMPLES = Path(__file__).parent.parent / "examples" / "programs"

#: The kernels that have programs, and whose guest is of this version of Sojourn.
KERNELS = [kernel for kernel in cache.kernels() if kernel.program == guest.program_digest() and kernel.has_seccomp]

on_a_kernel = [
    pytest.mark.kernel,
    pytest.mark.skipif(
        not KERNELS, reason="no Linux kernel from 6.16 on is built by this version; `sojourn linux build` makes one"
    ),
]


def kernel() -> str:
    """Returns the backend of the first kernel that has programs."""
    return f"linux:{KERNELS[0].name}"


@pytest.fixture
def line() -> programs.Network:
    """Returns a line of 10 Mbit/s with 10 ms each way."""
    return sojourn.programs.network(rate="10 Mbit/s", delay="10 ms", queue="fq_codel")


def test_what_a_network_needs_is_said() -> None:
    """A rate alone is no network, and a scenario has its own."""
    with pytest.raises(InputError, match="network: rate and delay are needed"):
        programs.network(rate="10 Mbit/s")
    with pytest.raises(InputError, match="network: give either a scenario, or rate and delay"):
        programs.network({"network": {}}, rate="10 Mbit/s")


def test_a_host_that_does_not_exist_is_named(line: programs.Network) -> None:
    """Keywords are hosts: one that is none is refused before anything runs."""
    with pytest.raises(InputError, match=r'network: programs\[0\]: at: unknown host "sever"'):
        line.run(sever="true", duration="1 s")
    with pytest.raises(InputError, match=r'network: programs\[0\]: run: unknown host or variable "sever"'):
        line.run(client="echo {sever}", duration="1 s")


def scenario_of(programs_of: list[dict[str, Any]], duration: str = "10 s", folder: Path = Path()) -> Scenario:
    """Returns a scenario of nothing but programs, behind a queue that draws nothing."""
    hosts = {"senders": [{"name": "server", "rate": "1 Gbit/s"}], "receivers": [{"name": "client", "rate": "1 Gbit/s"}]}
    network = {"dumbbell": {**hosts, "bottleneck": {"rate": "10 Mbit/s", "queue": "codel"}}}
    return from_data({"name": "test", "duration": duration, "network": network, "programs": programs_of}, "test", folder)


def written_by_failed(asked: list[dict[str, Any]], out: Path) -> dict[str, bytes]:
    """Returns the files that programs of a run left that failed, which must be where the failure says."""
    with pytest.raises(RunFailed) as failed:
        sojourn.run(scenario_of(asked, "2 s"), out=out, backend=kernel())
    folder = Path(str(failed.value).rpartition("; what its programs wrote is in ")[2])
    assert folder.parent == out / outputs.FOLDER
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_seeds_of_programs_differ() -> None:
    """What programs draw comes from the seed: nobody is told that all seeds give the same run."""
    parts = randomness.parts(specify(scenario_of([{"at": "server", "run": "true"}]), 1))
    assert dict(parts) == {"programs": "what they and the kernel draw"}
    assert randomness.line([parts]) == "random: programs (what they and the kernel draw)"


def test_the_work_of_programs_is_that_of_the_slowest_link() -> None:
    """Programs may fill the bottleneck: 10 Mbit/s over ten seconds are 100 Mbit, and a beginning is as long as is asked for."""
    run = Run(
        {},
        1,
        specify(scenario_of([{"at": "server", "run": "true", "start": "9 s", "stop": "9.5 s"}]), 1),
        backends.named("simulator").identity,
    )
    assert run.cost == 100_000_000
    carried_out: list[Run] = []
    estimate.measure(run, carried_out.append)
    for short in carried_out:
        (program,) = short.specification["programs"]
        assert program["start"] < short.specification["duration"]
        assert (program["stop"], program["expect"]) == (None, "any")


def test_programs_that_change_nothing_are_no_reason_to_set_keys_of_flows() -> None:
    """The remedy for flows is none for programs, and a comparison of outputs is another matter."""
    runs = pl.LazyFrame({"seed": [1, 2], "specification": ['{"seed":1,"programs":[{}]}'] * 2})
    cells = pl.DataFrame({"=cell": [0], "=first seed": [1]})
    assert repetition.note(cells, runs) == repetition.OF_PROGRAMS


class TestOnAKernel:
    """What comes out of programs."""

    pytestmark = on_a_kernel

    def test_programs_say_what_they_did(self, line: programs.Network, tmp_path: Path) -> None:
        """Outputs, errors, statuses, times and files are those of the programs; two at one host are told apart."""
        (tmp_path / "word").write_text("from the folder\n")
        outcome = line.run(
            {"server": "cat word"},
            client=[
                {"run": ["sh", "-c", "sleep 2; echo oops >&2; echo '{{}}' > a.json; exit 3"], "expect": 3, "keep": ["*.json"]},
                "sleep 100",
            ],
            duration="5 s",
            folder=tmp_path,
            backend=kernel(),
        )
        assert outcome["server"].output == "from the folder\n"
        first, second = outcome["client"], outcome["client 2"]
        assert (first.status, first.errors, first.files) == (3, "oops\n", {"a.json": b"{}\n"})
        assert first.end is not None
        assert first.end == pytest.approx(2, abs=0.01)
        assert (second.status, second.stopped) == (None, True)
        assert outcome.queues.height == 1

    def test_a_program_that_fails_fails_the_test(self, line: programs.Network) -> None:
        """The last line of what it wrote says why, and what all wrote stands below: their folder is not there any more."""
        with pytest.raises(RunFailed, match=r"client\): ended with status 1 instead of status 0: no luck") as failed:
            line.run({"server": "echo up"}, client="sh -c 'echo no luck >&2; exit 1'", duration="1 s", backend=kernel())
        assert str(failed.value).endswith("no luck")
        assert failed.value.__notes__ == ["0-server/output:\nup\n", "1-client/errors:\nno luck\n"]

    def test_what_programs_of_a_failed_run_wrote_is_kept(self, tmp_path: Path) -> None:
        """All that had started, their outputs and the files of those that had ended, where the line of the failure says."""
        script = "echo begun; echo '{{}}' > a.json; {}"
        asked = [
            {"at": "server", "run": ["sh", "-c", script.format("true")], "keep": ["*.json"]},
            {"at": "client", "run": ["sh", "-c", script.format("echo no luck >&2; exit 1")], "keep": ["*.json"]},
        ]
        assert written_by_failed(asked, tmp_path) == {
            "0-sh/output": b"begun\n",
            "0-sh/files/a.json": b"{}\n",
            "1-sh/output": b"begun\n",
            "1-sh/errors": b"no luck\n",
            "1-sh/files/a.json": b"{}\n",
        }

    @pytest.mark.parametrize("ending", ["while :; do sleep 1000 & done", "while :; do :; done", "kill -KILL -1"])
    def test_what_programs_wrote_before_they_went_too_far_is_kept(
        self, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A run that is ended for a limit, by its guest or from outside, keeps what had been written before."""
        monkeypatch.setattr(runaways, "LONGEST", 1.0)
        asked = [{"at": "server", "run": ["sh", "-c", f"echo begun; sleep 0.1; {ending}"]}]
        assert written_by_failed(asked, tmp_path) == {"0-sh/output": b"begun\n"}

    def test_a_run_that_is_made_after_all_has_no_failure(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What a failure left is gone when the run has results, such as on a machine with more memory."""
        script = "import time; print('begun', flush=True); time.sleep(0.1); print(len(b'x' * (3 << 29)))"
        asked = [{"at": "server", "run": ["python3", "-c", script]}]
        with monkeypatch.context() as patched:
            patched.setattr(of_plan, "MEMORY", 64)
            assert written_by_failed(asked, tmp_path)["0-python3/output"] == b"begun\n"
        (row,) = sojourn.run(scenario_of(asked, "2 s"), out=tmp_path, backend=kernel()).programs.to_dicts()
        assert row["output"] == "begun\n1610612736\n"
        assert [path.name for path in (tmp_path / outputs.FOLDER).iterdir()] == [row["key"]]

    def test_a_word_may_be_empty(self, line: programs.Network) -> None:
        """A program has the words that were given, in their places; in a text, quotes make an empty one."""
        given = [["printf", "%s|", "", "a", ""], "printf %s| '' a ''"]
        outcome = line.run(
            client=[{"run": words, "environment": {"EMPTY": ""}} for words in given], duration="1 s", backend=kernel()
        )
        assert [outcome[name].output for name in ("client", "client 2")] == ["|a||"] * 2

    @pytest.mark.parametrize("queue", ["fq_codel", "cake"])
    def test_a_reset_may_overtake(self, queue: str) -> None:
        """A flow that stops has a reset sent, which a fair queue may send past its data, and all that left has arrived."""
        data = {
            "name": "stops",
            "duration": "4 s",
            "network": {
                "dumbbell": {
                    "senders": [{"name": "server", "rate": "1 Gbit/s"}],
                    "receivers": [{"name": "client", "rate": "1 Gbit/s"}],
                    "bottleneck": {"rate": "10 Mbit/s", "delay": "15 ms", "queue": queue},
                }
            },
            "flows": [
                {"from": "server", "to": "client", "tcp": "cubic"},
                *({"from": "server", "to": "client", "tcp": "cubic", "stop": f"{stop} ms"} for stop in range(2000, 3000, 100)),
            ],
        }
        [found] = sojourn.run(from_data(data, "test"), backend=Linux(KERNELS[0].name)).queues.to_dicts()
        assert 0 <= found["total_arrivals"] - found["total_departures"] - found["total_drops"] < 1000

    def test_a_policer_polices_programs(self) -> None:
        """Of a burst of packets of 1,028 bytes those pass for which a bucket of 10,420 bytes has tokens, ten."""
        policed = {"queue": "fq_codel", "impairments": {"policer": {"rate": "8 kbit/s", "burst": "10420 B"}}}
        network = {
            "senders": [{"name": "server", "rate": "1 Gbit/s"}],
            "receivers": [{"name": "client", "rate": "1 Gbit/s"}],
            "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", **policed},
        }
        sender = "import socket as s; c = s.socket(s.AF_INET, s.SOCK_DGRAM)"
        send = f"{sender}; [c.sendto(bytes(1000), ('{{client}}', 9)) for _ in range(30)]"
        outcome = sojourn.programs.network({"network": {"dumbbell": network}}).run(
            server={"run": ["python3", "-c", send], "start": "100 ms"}, client="sleep 1", duration="2 s", backend=kernel()
        )
        assert outcome.flows["total_bytes_delivered"].to_list() == [10000]

    def test_the_seed_decides_random_numbers(self, line: programs.Network) -> None:
        """The same seed gives the same bytes of /dev/urandom, another one others."""
        command = "od -An -N16 -tx1 /dev/urandom"
        drawn = [line.run(client=command, duration="1 s", seed=seed, backend=kernel())["client"].output for seed in (1, 1, 2)]
        assert drawn[0] == drawn[1] != drawn[2]

    @pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
    def test_an_answer_over_the_device_of_the_question_takes_the_hosts_link(self, family: str) -> None:
        """A host has one device to a neighbour, as a real one does: an answer over it takes its link's delay, and is a flow.

        Servers of DNS and QUIC answer so: they have learnt the device from IP_PKTINFO or IPV6_RECVPKTINFO (ip(7), ipv6(7)).
        """
        option = {"AF_INET": "s.IPPROTO_IP, 8", "AF_INET6": "s.IPPROTO_IPV6, 49"}[family]
        kind = {"AF_INET": 8, "AF_INET6": 50}[family]
        answer = f"""
import socket as s
with s.socket(s.{family}, s.SOCK_DGRAM) as server:
    server.setsockopt({option}, 1)
    server.bind(("", 9))
    content, (asked,), _, client = server.recvmsg(1000, 100)
    assert asked[:2] == ({option.split(", ")[0]}, {kind})
    server.sendmsg([content], [asked], 0, client)
"""
        ask = f"""
import socket as s, time
with s.socket(s.{family}, s.SOCK_DGRAM) as client:
    client.connect(("server", 9))
    begun = time.monotonic()
    client.send(bytes(300))
    client.recv(1000)
    print(time.monotonic() - begun)
"""
        network = {
            "senders": [{"name": "server", "rate": "100 Mbit/s", "delay": "20 ms"}],
            "receivers": [{"name": "client", "rate": "100 Mbit/s"}],
            "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": "fq_codel"},
        }
        outcome = sojourn.programs.network({"network": {"dumbbell": network}}).run(
            server={"run": ["python3", "-c", answer]},
            client={"run": ["python3", "-c", ask], "start": "1 s"},
            duration="3 s",
            backend=kernel(),
        )
        # Twice 20 and 10 ms, and the time of transmission.
        assert float(outcome["client"].output) == pytest.approx(0.0606, abs=0.0005)
        flows = outcome.flows.select("sender", "receiver", "bytes_delivered").rows()
        assert flows == [("client", "server", 300), ("server", "client", 300)]

    @needs_tshark
    def test_a_capture_has_what_programs_send(self, tmp_path: Path) -> None:
        """Their packets are in it as they were, both ways: three datagrams of IPv4 and two of IPv6; errors of ICMP quote them."""
        send = (
            "import socket as s; [s.socket(f, s.SOCK_DGRAM).sendto(bytes(n), s.getaddrinfo({!r}, 9, f)[0][4]) for f, n in ({})]"
        )
        four, six = "(s.AF_INET, 100)", "(s.AF_INET6, 300)"
        sent = [("server", "client", f"{four}, {six}, (s.AF_INET, 200)"), ("client", "server", f"{four}, {six}")]
        asked = [{"at": origin, "run": ["python3", "-c", send.format(target, what)]} for origin, target, what in sent]
        run = Run({}, 1, specify(scenario_of(asked, "2 s"), 1), Linux(KERNELS[0].name).identity)
        capture = tmp_path / "programs.pcapng"
        link, _ = exports.write_pcapng(run, capture, backend=kernel())
        assert link == "left->right"
        found = frames(capture, "udp && !icmp && !icmpv6", "udp.length", "ip.version", "ipv6.version", "frame.p2p_dir")
        told = sorted((int(row["udp.length"]) - 8, row["ipv6.version"] == "6", row["frame.p2p_dir"]) for row in found)
        assert told == [(100, False, "0"), (100, False, "1"), (200, False, "0"), (300, True, "0"), (300, True, "1")]
        with pytest.raises(InputError, match="connections of flows are exported, and the scenario has none"):
            exports.write_tcp_info(run, tmp_path / "out", backend=kernel())

    def test_a_watched_run_has_the_flows_of_programs(self) -> None:
        """A run that is watched finds what one finds that is not."""
        send = "python3 -c \"import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(bytes(100), ('{client}', 9))\""
        run = specify(scenario_of([{"at": "client", "run": "true"}, {"at": "server", "run": send}], "2 s"), 1)
        backend = Linux(KERNELS[0].name)
        watched = backend.step(run)
        assert list(watched.moments(10**12))
        assert watched.result().flows["algorithm"].to_list() == ["udp"]
        assert watched.result().flows.equals(backend.run(run).flows)

    def test_the_example_passes(self, tmp_path: Path) -> None:
        """What it asserts are laws: a download takes as long as its bytes on the wire, and FQ-CoDel isolates flows."""
        kept = tmp_path / "sojourn" / "linux" / "kernels"
        kept.mkdir(parents=True)
        (kept / KERNELS[0].name).symlink_to(KERNELS[0].folder)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(EXAMPLES)]
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "3 passed" in done.stdout
