"""The oracle: a built-in congestion control and a module of Linux in one sequence of events part where their rules differ."""

import json
import os
import tarfile
from pathlib import Path

import pytest

from conftest import Capture, complaint
from own_files import needs_compiler
from sojourn import oracle
from sojourn.cli.commands import status

pytestmark = [needs_compiler, pytest.mark.usefixtures("own_cache")]

#: Where a kernel's sources are: tests of its modules are skipped without them.
KERNEL = Path(os.environ.get("SOJOURN_KERNEL_SOURCE", "/usr/src/linux"))

needs_kernel = pytest.mark.skipif(not (KERNEL / "net/ipv4/tcp_bbr.c").is_file(), reason="needs SOJOURN_KERNEL_SOURCE")

#: Scalable TCP (Kelly 2003) as a module: one segment for every hundred, and seven eighths of the window after a loss.
SCALABLE = """
#include <linux/module.h>
#include <net/tcp.h>

static void cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
    struct tcp_sock *tp = tcp_sk(sk);

    if (tcp_in_slow_start(tp))
        acked = tcp_slow_start(tp, acked);
    if (acked)
        tcp_cong_avoid_ai(tp, min(tcp_snd_cwnd(tp), 100U), acked);
}

static u32 ssthresh(struct sock *sk)
{
    return max(tcp_snd_cwnd(tcp_sk(sk)) - (tcp_snd_cwnd(tcp_sk(sk)) >> 3), 2U);
}

static void pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
}

static struct tcp_congestion_ops mine = {
    .ssthresh = ssthresh,
    .undo_cwnd = tcp_reno_undo_cwnd,
    .cong_avoid = cong_avoid,
    .pkts_acked = pkts_acked,
    .owner = THIS_MODULE,
    .name = "mine",
};

static int __init mine_register(void)
{
    return tcp_register_congestion_control(&mine);
}
module_init(mine_register);
"""

SHORT = oracle.Sequence(events=4000)


def kernel(folder: Path, old: str = "", new: str = "") -> Path:
    """A folder with Scalable as a module, a part of its text replaced."""
    assert old in SCALABLE
    (folder / "tcp_scalable.c").write_text(SCALABLE.replace(old, new) if old else SCALABLE, encoding="utf-8")
    return folder


def test_equals_agree(tmp_path: Path) -> None:
    """A module with the rules of Kelly's paper agrees with the built-in Scalable, to a segment or 1 %, in all kinds of events."""
    for seed in (None, 1):
        events = oracle.run("scalable", kernel(tmp_path) / "tcp_scalable.c", oracle.Sequence(6000, seed))
        assert {"ack", "repair", "loss", "recovered", "mark", "timeout"} <= set(events["kind"]) or seed
        assert oracle.parting(events).share == 0


def test_first_difference_shown(tmp_path: Path) -> None:
    """A module that halves its window parts at the first loss: that row is shown, with ssthresh at 1/2 and 7/8 of one window."""
    module = kernel(tmp_path, "tcp_snd_cwnd(tcp_sk(sk)) >> 3", "tcp_snd_cwnd(tcp_sk(sk)) >> 1") / "tcp_scalable.c"
    parting = oracle.parting(oracle.run("scalable", module, SHORT))
    row = parting.rows.row(0, named=True)
    assert (row["event"], row["kind"], row["parts"]) == (parting.first, "loss", True)
    before = parting.all.row(row["event"] - 2, named=True)["linux_cwnd"]
    assert row["ours_ssthresh"] == pytest.approx(before * 7 / 8, abs=1)
    assert row["linux_ssthresh"] == pytest.approx(before / 2, abs=1)


def test_same_input(tmp_path: Path) -> None:
    """The sequence is the module's: other parameters of the built-in algorithm change none of its events."""
    module = kernel(tmp_path) / "tcp_scalable.c"
    shared = ["time", "kind", "rtt", "linux_cwnd", "linux_ssthresh"]
    one, other = (oracle.run("scalable", module, SHORT, changes) for changes in ({}, {"b": 0.5}))
    assert one.select(shared).equals(other.select(shared))
    assert not one["ours_cwnd"].equals(other["ours_cwnd"])


def test_threshold_from_measuring_hook(tmp_path: Path) -> None:
    """A module that ends slow start in pkts_acked, as HyStart does, leaves it: its window then grows by a segment a hundred."""
    set_it = "{\n    if (tcp_sk(sk)->snd_cwnd == 20)\n        tcp_sk(sk)->snd_ssthresh = 20;\n}"
    module = kernel(tmp_path, "*sample)\n{\n}", f"*sample)\n{set_it}") / "tcp_scalable.c"
    events = oracle.run("scalable", module, oracle.Sequence(events=60))
    assert events["linux_ssthresh"][-1] == 20
    assert events["linux_cwnd"][-1] <= 20 + 60 * 2 / 20


def test_window_on_entering_recovery(tmp_path: Path) -> None:
    """A module that halves snd_cwnd on entering recovery (DCTCP: RFC 8257 section 3.5) halves that of before the loss."""
    text = "static void set_state(struct sock *sk, u8 state)\n{\n    if (state == TCP_CA_Recovery)\n"
    text += "        tcp_sk(sk)->snd_ssthresh = tcp_sk(sk)->snd_cwnd / 2;\n}\n\nstatic struct tcp_congestion_ops mine = {\n"
    module = kernel(tmp_path, "static struct tcp_congestion_ops mine = {\n", f"{text}    .set_state = set_state,\n")
    events = oracle.run("scalable", module / "tcp_scalable.c", SHORT)
    loss = events["kind"].to_list().index("loss")
    assert events["linux_ssthresh"][loss] == int(events["linux_cwnd"][loss - 1]) // 2


def test_recovery_after_recovery(tmp_path: Path) -> None:
    """A recovery that begins as another ends is one to a module that looks at the state it leaves (tcp_try_undo_recovery)."""
    text = "static void set_state(struct sock *sk, u8 state)\n{\n"
    text += "    if (state == TCP_CA_Recovery && state != inet_csk(sk)->icsk_ca_state)\n"
    text += "        tcp_sk(sk)->snd_ssthresh |= 1;\n}\n\nstatic struct tcp_congestion_ops mine = {\n"
    folder = kernel(tmp_path, "static struct tcp_congestion_ops mine = {\n", f"{text}    .set_state = set_state,\n")
    module = folder / "tcp_scalable.c"
    module.write_text(module.read_text(encoding="utf-8").replace(">> 3), 2U)", ">> 3), 2U) & ~1U"), encoding="utf-8")
    events = oracle.run("scalable", module, oracle.Sequence(seed=2))
    kinds = events["kind"].to_list()
    begun = [place for place, kind in enumerate(kinds) if kind == "loss"]
    assert any(kinds[place - 1] == "repair" for place in begun)
    assert all(events["linux_ssthresh"][place] % 2 == 1 for place in begun)


def test_command_shows_verdict(tmp_path: Path, capsys: Capture) -> None:
    """The command takes a tarball, writes the figure, and with --every --json the table has each event."""
    kernel(tmp_path)
    tarball, figure = tmp_path / "linux.tar.xz", tmp_path / "figure.svg"
    with tarfile.open(tarball, "w:xz") as archive:
        archive.add(tmp_path / "tcp_scalable.c", "linux-6.1/net/ipv4/tcp_scalable.c")
    asked = ["oracle", "scalable", "--source", str(tarball), "--events", "300", "--every", "--json", "--out", str(figure)]
    assert status(asked) == 0
    captured = capsys.readouterr()
    assert [row["event"] for row in json.loads(captured.out)] == list(range(1, 301))
    assert captured.err.startswith("They agree in all 300 events")
    assert figure.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch", "--source", "."], 'unknown congestion control "nosuch"'),
        (["newreno", "--source", "."], 'unknown congestion control with a module of Linux "newreno"'),
        (["cubic", "--source", "."], "--source .: has neither net/ipv4/tcp_cubic.c nor tcp_cubic.c"),
        (["cubic", "--source", "nowhere"], "--source nowhere: no such file or folder"),
        (["cubic", "--source", "text"], "--source text: neither a folder, a file in C nor a tarball"),
        (["scalable", "--source", ".", "--rtt", "40"], "--rtt 40: "),
        (["scalable", "--source", ".", "--set", "beta=1"], '--set: unknown key of scalable "beta" (known: '),
        (["scalable", "--source", ".", "--out", "figure.txt"], "--out figure.txt: unknown format"),
    ],
)
def test_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, arguments: list[str], said: str) -> None:
    """What makes no sense is said on one line, with status 2."""
    kernel(tmp_path)
    (tmp_path / "text").write_text("text", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert status(["oracle", *arguments]) == 2
    assert said in complaint(capsys)


#: Of each pair, the most that its windows may differ by on average in the planned sequence, as a part of Linux's window.
#: docs/your-own-algorithm.md has what was measured, and why pairs differ.
TOLERANCES = {
    "bbr": 0.011,
    "bic": 0.001,
    "cubic": 0.001,
    "dctcp": 0.05,
    "hstcp": 0.001,
    "htcp": 0.001,
    "hybla": 0.003,
    "illinois": 0.005,
    "lp": 0.001,
    "scalable": 0.001,
    "vegas": 0.001,
    "veno": 0.001,
    "westwood": 0.001,
    "yeah": 0.001,
}

#: Events after which the two part for a known cause (docs/your-own-algorithm.md), and are compared no more.
KNOWN = {"yeah": 1158}


@pytest.mark.kernel
@needs_kernel
@pytest.mark.parametrize(("name", "tolerance"), TOLERANCES.items())
def test_pairs_of_the_kernel(name: str, tolerance: float) -> None:
    """Each built-in algorithm is as close to Linux's module as is stated, and agrees to a segment until something differs."""
    with oracle.module(KERNEL, oracle.PAIRS[name]) as module:
        events = oracle.run(name, module, oracle.Sequence())
    parting = oracle.parting(events.head(KNOWN.get(name, events.height)))
    assert parting.mean <= tolerance, f"{name} parts from Linux at event {parting.first}"


def test_pairs_have_tolerances() -> None:
    """Every pair of the oracle is tested, but for those whose module is not in mainline Linux."""
    assert TOLERANCES.keys() == oracle.PAIRS.keys() - {"bbr3", "prague"}
