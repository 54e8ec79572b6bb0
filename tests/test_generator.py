"""What the engine generates for a kernel is what it simulates: connections, messages and packets, here over a mere delay."""

import heapq
import itertools
import os
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import scenario_data
from sojourn import _engine, specification
from sojourn.backends.linux import answers
from sojourn.scenario import Scenario, from_data
from sojourn.specification import RunSpecification, specify

#: One way of the network below, in ns: connections have no rate and no window.
DELAY = 7_000_000

END = 4_000_000_000

#: A recorded connection of each kind that Tmix has.
VECTORS = (
    "S 100000 4 0 1\nI 0 0 300\nA 0 1000 30000\nI 0 90000 200\nA 0 0 700\n"
    "C 200000 2 1 0 2\nI 0 0 5000\nI 90000 0 100\nA 0 0 9000\n"
)


def scenario(folder: Path, **flow: Any) -> Scenario:
    """Returns a scenario with one entry of flows over a link that is wide enough for all that they send."""
    (folder / "tmix").write_text(VECTORS)
    (folder / "times.csv").write_text("time_s,bytes\n0.1,20000\n0.3,50000\n")
    data = scenario_data(stack="linux-6", warm_up="0 s", flows=[{"from": "a", "to": "b", "tcp": "cubic", **flow}])
    data["network"]["dumbbell"]["bottleneck"] |= {"rate": "1 Gbit/s", "queue": "droptail"}
    return from_data(data, "test", folder)


class Network:
    """Carries out what a generator says: all that is sent arrives after a delay."""

    def __init__(self, run: RunSpecification) -> None:
        self.generator = _engine.Generator(specification.text(run))
        self.told: list[tuple[int, str]] = []
        self._due: list[tuple[int, int, str]] = []
        self._order = itertools.count()
        self._opened: dict[str, tuple[int, str]] = {}
        self._written: Counter[str] = Counter()

    def go_on(self) -> None:
        """Goes on to the end."""
        heapq.heappush(self._due, (0, next(self._order), "due"))
        while self._due and self._due[0][0] < END:
            time, _, words = heapq.heappop(self._due)
            while words:
                words = "due" if self._tell(time, words) else ""

    def _tell(self, time: int, words: str) -> bool:
        *commands, last = self.generator.tell(f"{time} {words}").splitlines()
        for command in commands:
            self.told.append((time, command))
            for later, happens in self._follows(*command.split()):
                heapq.heappush(self._due, (time + later, next(self._order), happens))
        if last.startswith("at "):
            heapq.heappush(self._due, (int(last[3:]), next(self._order), "due"))
        return last == "more"

    def _follows(self, kind: str, number: str, *words: str) -> Iterator[tuple[int, str]]:
        match kind, words:
            case "open", (_, by):
                self._opened[number] = (self.told[-1][0], by)
                yield 2 * DELAY, f"opened {number}"
                yield 3 * DELAY, f"accepted {number}"
            case "write", (end, _) if self._opened[number][1] == "client":
                yield DELAY, f"received {number} {'client' if end == 'server' else 'server'}"
            case "room", (waiting,):
                yield 0, f"room {number} {waiting}"
            case "close", _ if self._opened[number][1] == "server":
                start = self._opened[number][0]
                yield 4 * DELAY, f"ended {number} {start} {start + 4 * DELAY} 0"
            case "send", _:
                yield DELAY, f"arrived {number} 0"


FLOWS: dict[str, dict[str, Any]] = {
    "poisson": {
        "size": {"distribution": "pareto", "shape": 1.2, "least": "1 kB", "most": "100 kB"},
        "arrivals": {"process": "poisson", "rate": 50},
    },
    "deterministic": {"size": "5 kB", "arrivals": {"process": "deterministic", "rate": 20}},
    "listed": {"arrivals": {"file": "times.csv"}},
    "pages": {"page": {"objects": {"distribution": "exponential", "mean": 3}}, "arrivals": {"process": "poisson", "rate": 2}},
    "multiplexed": {"page": {"objects": 5, "multiplexed": True}, "arrivals": {"process": "poisson", "rate": 2}},
    "exchange": {"exchange": {"response": {"distribution": "exponential", "mean": "20 kB"}, "count": 5}, "count": 3},
    "vectors": {"vectors": "tmix"},
    "periodic": {"periodic": {"size": {"distribution": "exponential", "mean": "2 kB"}, "every": "100 ms"}},
}


@pytest.mark.parametrize("name", FLOWS)
def test_transfers_are_the_simulators(name: str, tmp_path: Path) -> None:
    """Whatever carries them, there are the same transfers: kinds and sizes are equal, without queues too."""
    asked = scenario(tmp_path, **FLOWS[name])
    network = Network(specify(asked, 1))
    network.go_on()
    made = network.generator.finish(None)["transfers"]
    simulated = sojourn.run(asked).transfers
    assert len(made["bytes"]) >= 2
    # At the end one or two are under way.
    found, expected = (
        Counter(zip(kinds, sizes, strict=True))
        for kinds, sizes in ((made["kind"], made["bytes"]), (simulated["kind"], simulated["bytes"]))
    )
    assert (found - expected).total() + (expected - found).total() <= 0.02 * len(made["bytes"]) + 1


def test_arrivals_are_on_time(tmp_path: Path) -> None:
    """Connections that arrive by themselves are opened when the simulator opens them, to the ns."""
    asked = scenario(tmp_path, **FLOWS["poisson"])
    network = Network(specify(asked, 1))
    network.go_on()
    opened = [time / 1e9 for time, command in network.told if command.startswith("open ")]
    simulated = sorted(sojourn.run(asked).transfers["start"])
    assert len(simulated) > 100
    assert opened[: len(simulated)] == pytest.approx(simulated, abs=2e-9)


def test_users_wait_for_their_transfers(tmp_path: Path) -> None:
    """A user has one transfer at a time: of three users never more than three connections are open."""
    asked = scenario(tmp_path, size="5 kB", arrivals={"users": 3, "think": "20 ms"})
    network = Network(specify(asked, 1))
    network.go_on()
    starts = [time for time, command in network.told if command.startswith("open ")]
    assert len(starts) > 100
    assert all(later - earlier >= 4 * DELAY for earlier, later in zip(starts, starts[3:], strict=False))


def test_stopped_group_aborts_what_is_open(tmp_path: Path) -> None:
    """At its stop a group's connections are aborted and no more arrive; what was open is unfinished."""
    asked = scenario(tmp_path, size="5 kB", arrivals={"process": "deterministic", "rate": 1000}, stop="1 s")
    network = Network(specify(asked, 1))
    network.go_on()
    aborted = [time for time, command in network.told if command.startswith("abort ")]
    # As many as arrive in four one-way delays.
    assert len(aborted) == pytest.approx(28, abs=1)
    assert {*aborted} == {1_000_000_000}
    assert max(time for time, _ in network.told) == 1_000_000_000
    flow = network.generator.finish(None)["flows"]
    assert flow["transfers_unfinished"] == [len(aborted)]
    assert flow["stopped"] == [1.0]


def test_failed_session_is_over(tmp_path: Path) -> None:
    """A connection that gives up ends its session, whose other connections are aborted: it is unfinished."""
    asked = scenario(tmp_path, page={"objects": 20}, start="1 ms")
    generator = _engine.Generator(specification.text(specify(asked, 1)))
    at = generator.tell("0 due").split()
    assert at[0] == "at"
    assert generator.tell(f"{at[1]} due").splitlines()[0] == "open 0 0 client"
    assert generator.tell("1000000000 failed 0") == "abort 0\nnever\n"
    assert generator.finish(None)["flows"]["transfers_unfinished"] == [1]


def test_pings_are_answered(tmp_path: Path) -> None:
    """A request and its answer each take the way once; sizes are those of the parameters."""
    network = Network(specify(scenario(tmp_path, tcp={"name": "ping", "request_size": "80 B"}), 1))
    network.go_on()
    sent = Counter(command.split(" ", 2)[2] for _, command in network.told)
    assert set(sent) == {"0 server 80 0", "0 client 60 0"}
    assert network.generator.finish(None)["flows"]["rtt_mean"] == pytest.approx([2 * DELAY / 1e9])


def test_missing_packets_were_dropped(tmp_path: Path) -> None:
    """A call whose drops nobody counts lacks the packets that did not arrive; it sounds as one whose drops are known."""
    ratings = []
    for dropped in (None, [20]):
        generator = _engine.Generator(specification.text(specify(scenario(tmp_path, tcp="voice"), 1)))
        time, number = 0, 0
        while time < END:
            *sent, last = generator.tell(f"{time} due").splitlines()
            for _ in sent:
                if number % 10:
                    generator.tell(f"{time + DELAY} arrived {number} 0")
                number += 1
            time = int(last.split()[1])
        ratings += generator.finish(dropped)["flows"]["mos"]
    assert ratings[0] == pytest.approx(ratings[1])


def test_answers_come_in_parts(tmp_path: Path) -> None:
    """More than fits into a link's target is handed over line by line: nothing is lost, and no part is longer."""
    asked = scenario(tmp_path, size="5 kB", arrivals={"process": "deterministic", "rate": 100_000})
    generator = _engine.Generator(specification.text(specify(asked, 1)))
    parts = [generator.tell("10000000 due")]
    while parts[-1].endswith("more\n"):
        parts.append(generator.tell("10000000 due"))
    assert len(parts) > 5
    assert max(map(len, parts)) < 4096
    assert sum(part.count("open ") for part in parts) == pytest.approx(1000, abs=1)


def test_wrong_line_is_refused(tmp_path: Path) -> None:
    """What says nothing that can happen is an error, with the line."""
    generator = _engine.Generator(specification.text(specify(scenario(tmp_path, page={"objects": 2}), 1)))
    with pytest.raises(ValueError, match='"1 happened" says nothing'):
        generator.tell("1 happened")


def test_guest_is_answered(tmp_path: Path) -> None:
    """Each question gets its answer; an answer that fails ends the connection, and is raised at the end."""

    def answer(question: str) -> str:
        if question == "wrong":
            raise ValueError("nobody knows")
        return question.upper()

    def ask() -> Iterator[bytes]:
        with answers.given(answer, tmp_path) as (environment, files), socket.socket(fileno=os.dup(files[0])) as asking:
            assert environment == {"SOJOURN_ANSWERS": str(files[0])}
            for question in (b"one", b"two", b"wrong"):
                asking.send(question)
                yield asking.recv(100)

    asked = ask()
    assert [*itertools.islice(asked, 3)] == [b"ONE", b"TWO", b""]
    with pytest.raises(ValueError, match="nobody knows"):
        next(asked)
