"""packetdrill's scripts on the simulator's TCP: our own and, with the mark packetdrill, those that make packetdrill gets."""

import os
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import ROOT
from count_packetdrill import counted
from sojourn import packetdrill
from sojourn.cli.commands import sojourn as cli
from sojourn.errors import InputError

OWN = sorted((ROOT / "tests" / "packetdrill").glob("*.pkt"))
COLLECTIONS: list[dict[str, Any]] = tomllib.loads((ROOT / "tests" / "packetdrill.toml").read_text())["collection"]

HANDSHAKE = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 60000 <mss 1000,sackOK>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 60000
+0 accept(3, ..., ...) = 4
"""


def outcome(tmp_path: Path, text: str) -> packetdrill.Outcome:
    script = tmp_path / "script.pkt"
    script.write_text(HANDSHAKE + text)
    return packetdrill.run(script)


@pytest.mark.parametrize("script", OWN, ids=[script.stem for script in OWN])
def test_own_scripts_pass(script: Path) -> None:
    """Each script in tests/packetdrill, which says what it proves and by which source, passes."""
    found = packetdrill.run(script)
    assert found.verdict == "passed", found.difference or found.feature


def of_others() -> list[Any]:
    """Each script of the collections, with the verdict that is expected of it."""
    verdicts = {"passed": "passed", "failed": "failed", "not_for_us": "not for us"}
    return [
        pytest.param(Path(collection["name"], collection["folder"], script), verdict, id=f"{collection['name']}/{script}")
        for collection in COLLECTIONS
        for key, verdict in verdicts.items()
        for script in collection[key]
    ]


@pytest.mark.packetdrill
@pytest.mark.parametrize(("script", "verdict"), of_others())
def test_scripts_of_others(script: Path, verdict: str) -> None:
    """Each script of the collections in packetdrill.toml has the verdict that stands there."""
    place = Path(os.environ.get("SOJOURN_PACKETDRILL", "target/packetdrill"))
    if not (place / script.parts[0] / script.parts[1]).exists():
        pytest.skip(f"{script.parts[0]} is not there (make packetdrill)")
    found = packetdrill.run(place / script)
    assert found.verdict == verdict, found.difference or found.feature


def test_day_is_of_its_collection() -> None:
    """The day of a count is written, and later changed, at the collections that were counted and nowhere else."""
    text = "".join(f'[[collection]]\nname = "{name}"\nfolder = "x"\npassed = []\n\n' for name in ("linux", "linux-newer"))
    once = counted(text, "linux", "2026-11-23")
    assert [each.get("counted") for each in tomllib.loads(once)["collection"]] == [date(2026, 11, 23), None]
    again = counted(counted(once, "linux", "2026-11-24"), "linux-newer", "2026-11-25")
    assert [each["counted"] for each in tomllib.loads(again)["collection"]] == [date(2026, 11, 24), date(2026, 11, 25)]
    assert again.replace("counted = 2026-11-24\n", "").replace("counted = 2026-11-25\n", "") == text


def test_difference_told(tmp_path: Path) -> None:
    """A failure tells the script's line, and the expected and the seen packet in the same notation."""
    found = outcome(tmp_path, "+0 write(4, ..., 500) = 500\n+0 > P. 1:401(400) ack 1\n")
    assert found.verdict == "failed"
    assert found.difference is not None
    assert (found.difference.line, found.difference.at) == (9, 0.1)
    assert (found.difference.expected, found.difference.seen) == ("P. 1:401(400) ack 1", "P. 1:501(500) ack 1")


@pytest.mark.parametrize(
    ("text", "expected", "seen"),
    [
        ("+0 > . 1:1(0) ack 1", ". 1:1(0) ack 1", "nothing"),
        ("+0 write(4, ..., 1) = -1 EPIPE (Broken pipe)", "write = -1 EPIPE", "1"),
        ("+0 read(4, ..., 1) = 0", "read to return", "that it blocks"),
        ("+0 %{ assert tcpi_snd_cwnd == 11 }%", "assert tcpi_snd_cwnd == 11", "tcpi_snd_cwnd = 10"),
    ],
)
def test_wrong_scripts_fail(tmp_path: Path, text: str, expected: str, seen: str) -> None:
    """What does not happen as a script says makes it fail: packets, results of calls, calls that block, assertions."""
    found = outcome(tmp_path, text)
    assert found.verdict == "failed"
    assert found.difference is not None
    assert (found.difference.expected, found.difference.seen) == (expected, seen)


def test_late_packets_fail(tmp_path: Path) -> None:
    """A packet at another time than written, beyond the tolerance, makes a script fail: a tail loss probe after twice the RTT."""
    script = "+0 write(4, ..., 2000) = 2000\n+0 > P. 1:2001(2000) ack 1\n+{} > P. 1001:2001(1000) ack 1\n"
    assert outcome(tmp_path, script.format(".2")).verdict == "passed"
    assert outcome(tmp_path, script.format(".1")).verdict == "failed"
    assert outcome(tmp_path, script.format(".3")).verdict == "failed"


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("+0 < icmp unreachable frag_needed mtu 1400 [1:1001(1000)]", "packets of icmp"),
        ("+0 epoll_create(1) = 5", "epoll_create()"),
        ("+0 setsockopt(4, SOL_TCP, TCP_FASTOPEN, [1], 4) = 0", "setsockopt TCP_FASTOPEN"),
        ("+0 send(4, ..., 1, MSG_OOB) = 1", "send with MSG_OOB"),
        ("+0 < [1:1001(1000)] icmp unreachable frag_needed mtu 1400", "packets of icmp"),
        ("+0 `ip route change 192.0.2.1 dev tun0 mtu lock 640`", "`ip route change 192.0.2.1 dev tun0 mtu lock 640`"),
        ("+0 %{ assert tcpi_nothing == 0 }%", "tcpi_nothing"),
    ],
)
def test_missing_features_named(tmp_path: Path, text: str, feature: str) -> None:
    """A script that needs what an endpoint does not have is not for us, with the name of it, and never passes."""
    found = outcome(tmp_path, text)
    assert (found.verdict, found.feature) == ("not for us", feature)


def test_trace_is_script_notation(tmp_path: Path) -> None:
    """The trace of a script, made into events, is a script that passes."""
    first = outcome(tmp_path, "+0 write(4, ..., 3000) = 3000\n+0 > P. 1:3001(3000) ack 1\n+.1 < . 1:1(0) ack 3001 win 60000\n")
    assert first.verdict == "passed"
    again = [line for line in first.packets if " < . 1:1(0) ack 3001" in line or "1:1001" in line]
    assert [line.split(" ", 1)[1] for line in again] == ["> P. 1:1001(1000) ack 1", "< . 1:1(0) ack 3001 win 60000"]


def test_command_counts_verdicts(tmp_path: Path) -> None:
    """The command tells each script's verdict and their numbers; its status is 1 with a failure, and 2 if a text is no script."""
    for name, text in {"a": "", "b": "+0 > . 1:1(0) ack 1\n", "c": "+0 pipe([5, 6]) = 0\n"}.items():
        (tmp_path / f"{name}.pkt").write_text(HANDSHAKE + text)
    found = CliRunner().invoke(cli, ["packetdrill", str(tmp_path)])
    assert found.exit_code == 1
    assert [line.split("  ")[0].strip() for line in found.output.splitlines() if line[0] != " "] == [
        "passed",
        "failed",
        "not for us",
        "1 passed, 1 failed, 1 not for us",
    ]
    (tmp_path / "d.pkt").write_text("+0 close(3) = 0\n+ close(3) = 0\n")
    found = CliRunner().invoke(cli, ["packetdrill", str(tmp_path / "d.pkt"), str(tmp_path / "a.pkt")])
    assert found.exit_code == 2
    assert f"no script   {tmp_path}/d.pkt: line 2, column 3: expected seconds" in found.output
    assert "1 passed, 1 no script" in found.output


@pytest.mark.parametrize("place", ["missing.pkt", "empty"])
def test_bad_places(tmp_path: Path, place: str) -> None:
    """A script that is not there and a directory without scripts are one line."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"No such file|no scripts"):
        list(packetdrill.scripts([tmp_path / place]))
