"""Unmodified congestion control modules of Linux: what is compiled against our headers runs as it does in the kernel."""

import itertools
import json
import os
import re
import shutil
import tomllib
from pathlib import Path

import polars as pl
import pytest

import sojourn
from conftest import Capture, complaint, is_shown
from own_files import WriteScenario, needs_compiler
from sojourn import oracle
from sojourn.cli.commands import status
from sojourn.plugins import compiler, source

pytestmark = [needs_compiler, pytest.mark.usefixtures("own_cache")]

#: Where a kernel's sources are: tests of its modules are skipped without them.
KERNEL = Path(os.environ.get("SOJOURN_KERNEL_SOURCE", "/usr/src/linux"))

needs_kernel = pytest.mark.skipif(not (KERNEL / "net/ipv4/tcp_bbr.c").is_file(), reason="needs SOJOURN_KERNEL_SOURCE")

#: The modules of Linux 6.1 that register a congestion control.
MODULES = (
    *("bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "scalable", "vegas"),
    *("veno", "westwood", "yeah"),
)

#: Reno by the kernel's own functions, with a parameter; it stays off what our headers offer for tests alone.
MODULE = """
#include <linux/module.h>
#include <net/tcp.h>

static int divisor __read_mostly = 2;
module_param(divisor, int, 0644);
MODULE_PARM_DESC(divisor, "the window is divided by this on loss");

struct mine {
    u32 losses;
};

static void mine_init(struct sock *sk)
{
    struct mine *ca = inet_csk_ca(sk);

    ca->losses = 0;
}

static void mine_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
    struct tcp_sock *tp = tcp_sk(sk);

    if (!tcp_is_cwnd_limited(sk))
        return;
    if (tcp_in_slow_start(tp)) {
        acked = tcp_slow_start(tp, acked);
        if (!acked)
            return;
    }
    tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

static u32 mine_ssthresh(struct sock *sk)
{
    struct mine *ca = inet_csk_ca(sk);

    ca->losses++;
    return max(tcp_snd_cwnd(tcp_sk(sk)) / divisor, 2U);
}

static struct tcp_congestion_ops mine __read_mostly = {
    .init = mine_init,
    .ssthresh = mine_ssthresh,
    .undo_cwnd = tcp_reno_undo_cwnd,
    .cong_avoid = mine_cong_avoid,
    .owner = THIS_MODULE,
    .name = "mine",
};

static int __init mine_register(void)
{
    BUILD_BUG_ON(sizeof(struct mine) > ICSK_CA_PRIV_SIZE);
    return tcp_register_congestion_control(&mine);
}

static void __exit mine_unregister(void)
{
    tcp_unregister_congestion_control(&mine);
}

module_init(mine_register);
module_exit(mine_unregister);
MODULE_AUTHOR("Sojourn");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Mine");
"""


def with_module(scenario_file: WriteScenario, text: str, keys: str = "") -> Path:
    """Writes a scenario whose flows use a module of this text, over DropTail."""
    path = scenario_file(('tcp = "newreno"', f'tcp = {{ linux = "tcp_mine.c"{keys} }}'), ('"codel"', '"droptail"'))
    (path.parent / "tcp_mine.c").write_text(text, encoding="utf-8")
    return path


def test_reno_of_the_kernel(scenario_file: WriteScenario) -> None:
    """Reno by the kernel's rules shares a link with itself fairly, fills it, and loses within a factor of 2 of New Reno's."""
    theirs = sojourn.run(with_module(scenario_file, MODULE)).runs.row(0, named=True)
    ours = sojourn.run(scenario_file(('"codel"', '"droptail"'))).runs.row(0, named=True)
    assert theirs["total_mbps"] == pytest.approx(ours["total_mbps"], rel=0.05)
    assert 0.5 < theirs["drop_pct"] / ours["drop_pct"] < 2


def test_module_parameters(scenario_file: WriteScenario) -> None:
    """A module's parameter is one: flows of both values in one run each keep their own, and the gentler gets more."""
    path = with_module(scenario_file, MODULE)
    flow = '\n[[flows]]\nfrom = "a"\nto = "b"\ncount = 2\ngroup = "{}"\ntcp = {{ linux = "tcp_mine.c", divisor = {} }}\n'
    text = path.read_text(encoding="utf-8").partition("[[flows]]")[0].replace('"4 s"', '"15 s"')
    path.write_text(text + flow.format("gentle", 2) + flow.format("harsh", 8), encoding="utf-8")
    groups = sojourn.run(path).groups
    shares = dict(groups.select("flow_group", "share_pct").rows())
    assert shares["gentle"] > 1.3 * shares["harsh"]


#: A module that reduces its window by itself whenever that reaches 60 segments.
REDUCING = MODULE.replace(
    "    if (tcp_in_slow_start(tp)) {",
    "    if (tcp_snd_cwnd(tp) >= 60) {\n        tcp_enter_cwr(sk);\n        return;\n    }\n    if (tcp_in_slow_start(tp)) {",
)


def test_module_reduces_its_window_by_itself(scenario_file: WriteScenario) -> None:
    """After tcp_enter_cwr the window falls to ssthresh, 30 segments, in a round trip (RFC 6937), and grows to 60 from there."""
    path = with_module(scenario_file, REDUCING)
    text = path.read_text(encoding="utf-8").replace("count = 2", "count = 1").replace('"100 packets"', '"1000 packets"')
    path.write_text(text.replace('"4 s"', '"30 s"') + '\n[probe]\nflow_series = "5 ms"\n', encoding="utf-8")
    result = sojourn.run(path)
    assert result.queues["drops"].sum() == 0
    windows = (result.series.filter(pl.col("measure") == "cwnd", pl.col("time") > 5)["value"] / 1460).to_list()
    assert 59 <= max(windows) <= 61
    assert 29 <= min(windows) <= 31
    # With 45 segments in the mean at 10 Mbit/s a round trip is 54 ms, and a tooth has 31 of them. Some 15 samples fall in each.
    teeth = sum(before >= 59.5 > after for before, after in itertools.pairwise(windows))
    assert teeth == pytest.approx(25 / (31 * 45 * 1500 * 8 / 10e6), rel=0.15)
    falling = sum(after < before for before, after in itertools.pairwise(windows))
    assert falling / teeth <= 60 * 1500 * 8 / 10e6 / 0.005 + 2


def test_samples_are_in_bytes(scenario_file: WriteScenario) -> None:
    """What an acknowledgement says to be in flight is a window in bytes: a module that grows only above two segments grows."""
    acked = "static void mine_acked(struct sock *sk, const struct ack_sample *sample) { seen = sample->in_flight; }"
    text = MODULE.replace("static void mine_cong_avoid", f"static u32 seen;\n{acked}\nstatic void mine_cong_avoid").replace(
        "    .cong_avoid", "    .pkts_acked = mine_acked,\n    .cong_avoid"
    )
    path = with_module(scenario_file, text.replace("    if (!tcp_is_cwnd_limited(sk))", "    if (seen < 2 * tp->mss_cache)"))
    path.write_text(path.read_text(encoding="utf-8").replace('delay = "5 ms"', 'delay = "50 ms"'), encoding="utf-8")
    # A window of ten segments in 104 ms is 1.1 Mbit/s for each of two flows.
    assert sojourn.run(path).runs["total_mbps"].item() > 8


LISTS = """
#include <linux/list.h>

struct item {
    int number;
    struct list_head place;
};

static bool lists_hold(void)
{
    LIST_HEAD(head);
    struct item items[4], *item, *next;
    int digits = 0;

    for (int number = 0; number < 4; number++) {
        items[number].number = number + 1;
        (number % 2 ? list_add : list_add_tail)(&items[number].place, &head);
    }
    list_for_each_entry(item, &head, place) /* 4 2 1 3 */
        digits = 10 * digits + item->number;
    list_for_each_entry_safe(item, next, &head, place)
        if (item->number == 2)
            list_del(&item->place);
    list_move(&items[2].place, &head);
    list_for_each_entry_reverse(item, &head, place) /* 1 4 3 */
        digits = 10 * digits + item->number;
    return digits == 4213143 && list_first_entry(&head, struct item, place) == &items[2] && !list_empty(&head);
}

static int __init mine_register(void)
{
    if (!lists_hold())
        return -EINVAL;
"""


def test_module_has_lists(scenario_file: WriteScenario) -> None:
    """Lists of linux/list.h have the order that list.rst says: entries are added in front or at the end, moved and taken out."""
    text = MODULE.replace("\nstatic int __init mine_register(void)\n{\n", LISTS)
    assert "lists_hold" in text
    assert status(["check", str(with_module(scenario_file, text))]) == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ca->losses++;", "tcp_unheard_of(sk);", "needs tcp_unheard_of of the kernel"),
        ("ca->losses++;", "tcp_sk(sk)->unheard_of++;", "needs unheard_of of the kernel"),
        ("return tcp_register_congestion_control(&mine);", "return -EINVAL;", "registers no congestion control"),
        ("module_init(mine_register);", "", "registers no congestion control"),
        ("    .ssthresh = mine_ssthresh,\n", "", "registers a congestion control without ssthresh"),
        ("ca->losses++;", "extern u32 tcp_foreign(void);\n    tcp_foreign();", "needs tcp_foreign of the kernel"),
        ("struct mine {", '#include "made.h"\nstruct mine {', "includes made.h, which is not beside it"),
    ],
)
def test_lacking_symbols(scenario_file: WriteScenario, capsys: Capture, old: str, new: str, said: str) -> None:
    """What a module needs that there is not is named on one line, with status 2."""
    assert old in MODULE
    assert status(["check", str(with_module(scenario_file, MODULE.replace(old, new)))]) == 2
    assert said in capsys.readouterr().err.splitlines()[0]


@pytest.mark.parametrize(
    ("module", "shows"),
    [
        ("tcp_unheard_of(sk);", "MODULE_SHOW_STATE(struct mine);"),
        ("ca->losses++;", 'MODULE_SHOW_INTEGER(losses, ca->losses, "", "Losses");'),
    ],
)
def test_complaints_that_the_docs_show(
    scenario_file: WriteScenario, monkeypatch: pytest.MonkeyPatch, capsys: Capture, module: str, shows: str
) -> None:
    """docs/your-own-algorithm.md shows the first lines about a module and about its state; the compiler's may follow."""
    path = with_module(scenario_file, MODULE.replace("ca->losses++;", module))
    monkeypatch.chdir(path.parent)
    path.rename("mine.toml")
    Path("tcp_mine.shows.c").write_text(shows, encoding="utf-8")
    assert status(["check", "mine.toml"]) == 2
    line = capsys.readouterr().err.splitlines()[0]
    assert is_shown(line, "your-own-algorithm.md"), line


#: A module of the kind of BBRv3, for Linux 6.12: its window is 50 segments, 40 once a loss was reported, and 4 if what it is told
#: of losses and marks contradicts itself.
LATER_MODULE = """
#include <linux/module.h>
#include <net/tcp.h>

struct mine {
    u32 marked_lost;
    struct tcp_plb_state plb;
};

static void mine_marked_lost(struct sock *sk, const struct sk_buff *skb)
{
    struct mine *ca = inet_csk_ca(sk);
    struct tcp_sock *tp = tcp_sk(sk);
    const struct tcp_skb_cb *scb = TCP_SKB_CB(skb);

    ca->marked_lost += tcp_skb_pcount(skb);
    if (scb->tx.lost >= tp->lost || !scb->tx.in_flight || scb->tx.in_flight > 60 || !scb->tx.delivered_mstamp)
        ca->marked_lost = 1 << 20;
}

static void mine_main(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
    struct mine *ca = inet_csk_ca(sk);
    struct tcp_sock *tp = tcp_sk(sk);
    bool is_sound = ca->marked_lost == tp->lost && rs->lost == (s32)(tp->lost - rs->prior_lost);

    if (rs->delivered > 0)
        is_sound &= rs->delivered_ce >= 0 && rs->delivered_ce <= rs->delivered && rs->tx_in_flight > 0;
    tcp_plb_update_state(sk, &ca->plb, 0);
    tp->snd_cwnd = !is_sound ? 4 : tp->lost ? 40 : 50;
    sk->sk_pacing_rate = 12500000;
}

static u32 mine_ssthresh(struct sock *sk)
{
    return tcp_snd_cwnd(tcp_sk(sk));
}

static u32 mine_tso_segs(struct sock *sk, unsigned int mss_now)
{
    return 2;
}

static struct tcp_congestion_ops mine = {
    .cong_control = mine_main,
    .ssthresh = mine_ssthresh,
    .undo_cwnd = tcp_reno_undo_cwnd,
    .skb_marked_lost = mine_marked_lost,
    .tso_segs = mine_tso_segs,
    .owner = THIS_MODULE,
    .name = "mine",
};

static int __init mine_register(void)
{
    return tcp_register_congestion_control(&mine);
}
module_init(mine_register);
"""


def test_module_of_later_release(tmp_path: Path) -> None:
    """cong_control as of 6.10 and what BBRv3 adds: each lost segment is reported once, and rate samples add up, marks too."""
    module = tmp_path / "tcp_mine.c"
    module.write_text(LATER_MODULE, encoding="utf-8")
    events = oracle.run("newreno", module, oracle.Sequence(events=4000, seed=1))
    governed = events.filter(events["kind"] != "timeout")["linux_cwnd"].to_list()
    assert governed[0] == 50
    assert governed[-1] == 40
    assert set(governed) == {40, 50}


@pytest.mark.parametrize(("lost", "is_told"), [(40, True), (10, False)])
def test_module_hears_of_probes(scenario_file: WriteScenario, lost: int, is_told: bool) -> None:
    """A module, which crashes here, hears CA_EVENT_TLP_RECOVERY when a tail loss probe repaired a loss, not on fast recovery."""
    crash = "static void mine_event(struct sock *sk, enum tcp_ca_event event)\n{\n"
    crash += "    if (event == CA_EVENT_TLP_RECOVERY)\n        __builtin_trap();\n}\n\nstatic struct tcp_congestion_ops mine "
    text = MODULE.replace("static struct tcp_congestion_ops mine ", crash).replace(
        ".init =", ".cwnd_event = mine_event,\n    .init ="
    )
    path = with_module(scenario_file, text)
    scenario = path.read_text(encoding="utf-8").replace("count = 2", 'count = 1\nsize = "57920 B"\nstack = "linux-6"')
    scenario = scenario.replace("bottleneck = {", f"bottleneck = {{ drop = {{ listed = [{lost}] }},")
    path.write_text(scenario.replace('warm_up = "1 s"', 'warm_up = "0 s"'), encoding="utf-8")
    if is_told:
        with pytest.raises(sojourn.RunFailed, match="crashed with SIG"):
            sojourn.run(path)
    else:
        assert sojourn.run(path).flows["fast_recoveries"].to_list() == [1]


@pytest.mark.parametrize(("send_buffer", "is_limited"), [("7240 B", False), ("1 MB", True)])
def test_module_window_limit(scenario_file: WriteScenario, send_buffer: str, is_limited: bool) -> None:
    """A module that governs, which crashes here, finds its window the limit unless the send buffer is: is_cwnd_limited."""
    text = LATER_MODULE.replace(
        "    tcp_plb_update_state(", "    if (tcp_is_cwnd_limited(sk))\n        __builtin_trap();\n    tcp_plb_update_state("
    )
    path = with_module(scenario_file, text)
    scenario = path.read_text(encoding="utf-8").replace("count = 2", f'count = 1\nstack = {{ send_buffer = "{send_buffer}" }}')
    path.write_text(scenario, encoding="utf-8")
    if is_limited:
        with pytest.raises(sojourn.RunFailed, match="crashed with SIG"):
            sojourn.run(path)
    else:
        assert sojourn.run(path).runs["total_mbps"][0] > 0


@pytest.mark.parametrize(("pacing_rate", "is_limited"), [(125_000, False), (12_500_000, True)])
def test_module_paced_below_its_window(scenario_file: WriteScenario, pacing_rate: int, is_limited: bool) -> None:
    """A module that paces at a tenth of the link's rate does not use its window, as in Linux (tcp_cwnd_validate); see above."""
    crash = "    if (tcp_is_cwnd_limited(sk) && tp->delivered > 100)\n        __builtin_trap();\n    tcp_plb_update_state("
    text = LATER_MODULE.replace("    tcp_plb_update_state(", crash).replace("12500000", str(pacing_rate))
    path = with_module(scenario_file, text)
    path.write_text(path.read_text(encoding="utf-8").replace("count = 2", "count = 1"), encoding="utf-8")
    if is_limited:
        with pytest.raises(sojourn.RunFailed, match="crashed with SIG"):
            sojourn.run(path)
    else:
        assert sojourn.run(path).runs["total_mbps"][0] == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize(("flags", "least", "most"), [("", 0, 0), ("NEEDS_ECN", 0, 0.5), ("ECT_1_NEGOTIATION", 0.9, 1)])
def test_module_of_l4s(scenario_file: WriteScenario, flags: str, least: float, most: float) -> None:
    """A module that asks for ECT(1) is in DualPI2's L4S queue, which its window of 50 never leaves empty, and which marks it."""
    asked = f"    .flags = TCP_CONG_{flags},\n" if flags else ""
    path = with_module(scenario_file, LATER_MODULE.replace("    .owner =", f"{asked}    .owner ="))
    scenario = path.read_text(encoding="utf-8").replace("count = 2", "count = 1").replace('"droptail"', '"dualpi2"')
    path.write_text(scenario, encoding="utf-8")
    queue = sojourn.run(path).queues.row(0, named=True)
    assert least <= queue["marks"] / queue["departures"] <= most


#: A module that governs: its window grows by a segment each hundred acknowledgements, and has a bound from the thousandth on.
SHOWN_MODULE = """
#include <linux/module.h>
#include <net/tcp.h>

struct mine {
    u32 calls, bound;
};

static void mine_init(struct sock *sk)
{
    struct mine *ca = inet_csk_ca(sk);

    ca->calls = 0;
    ca->bound = ~0U;
}

static void mine_main(struct sock *sk, const struct rate_sample *rs)
{
    struct mine *ca = inet_csk_ca(sk);

    tcp_sk(sk)->snd_cwnd = 10 + ++ca->calls / 100;
    if (ca->calls >= 1000)
        ca->bound = tcp_sk(sk)->snd_cwnd + 1;
    sk->sk_pacing_rate = 12500000;
}

static u32 mine_ssthresh(struct sock *sk)
{
    return tcp_snd_cwnd(tcp_sk(sk));
}

static struct tcp_congestion_ops mine = {
    .init = mine_init,
    .cong_control = mine_main,
    .ssthresh = mine_ssthresh,
    .undo_cwnd = tcp_reno_undo_cwnd,
    .owner = THIS_MODULE,
    .name = "mine",
};

static int __init mine_register(void)
{
    return tcp_register_congestion_control(&mine);
}
module_init(mine_register);
"""

#: What stands beside it.
SHOWS = """
MODULE_SHOW_STATE(struct mine);

static const char *const phases[] = {"free", "bounded", NULL};

MODULE_SHOW_PHASE(phase, ca->bound != ~0U, phases, "Whether there is a bound");
MODULE_SHOW_SIZE(bound, ca->bound == ~0U ? SOJOURN_NONE : (u64)ca->bound * tp->mss_cache, "Bound");
MODULE_SHOW_RATE(pace, 8 * (u64)sk->sk_pacing_rate, "Pacing rate");
MODULE_SHOW_DURATION(base, tcp_min_rtt(tp), "Least RTT");
MODULE_SHOW_NUMBER(half, tp->snd_cwnd / 2.0, "segments", "Half of the window");
MODULE_SHOW_BOOLEAN(is_odd, ca->calls % 2, "Whether the number of acknowledgements is odd");
MODULE_SHOW_INTEGER(calls, ca->calls, "", "Acknowledgements");
MODULE_SHOW_COUNT(even, ca->calls % 2 == 0, "Acknowledgements whose number is even");
"""


def shown_module(scenario_file: WriteScenario, shows: str | None = SHOWS) -> Path:
    """Writes a scenario of a module that shows its state, which is asked for."""
    path = with_module(scenario_file, SHOWN_MODULE)
    text = path.read_text(encoding="utf-8").replace("count = 2", "count = 1")
    probe = 'probe = { flow_series = "10 ms", flow_state = true }'
    path.write_text(text.replace('name = "small"', f'name = "small"\n{probe}'), encoding="utf-8")
    if shows is not None:
        (path.parent / "tcp_mine.shows.c").write_text(shows, encoding="utf-8")
    return path


def test_module_shows_its_state(scenario_file: WriteScenario) -> None:
    """Samples have what the file beside a module says of its state, in the units of its kind, and nothing of a bound not set."""
    series = sojourn.run(shown_module(scenario_file)).series.filter(kind="flow")
    wide = series.pivot("measure", index="time", values="value").sort("time").filter(pl.col("calls") > 0)
    assert wide.height > 300
    calls = wide["calls"]
    assert (2 * 1448 * wide["half"] == wide["cwnd"]).all()
    assert (wide["half"] == (10 + calls // 100) / 2).all()
    assert (wide["even"] == calls // 2).all()
    assert (wide["is_odd"] == calls % 2).all()
    assert (wide["pace"] == 1e8).all()
    # The handshake's: the path's 14 ms and a short packet.
    assert wide["base"].is_between(0.0140, 0.0145).all()
    assert (wide["phase"] == (calls >= 1000)).all()
    assert wide["bound"].is_null().equals(calls < 1000)
    assert 0 < wide["bound"].null_count() < wide.height
    bounded = wide.drop_nulls("bound")
    assert (bounded["bound"] == bounded["cwnd"] + 1448).all()


#: The same with a window of ten segments. At each two hundredth acknowledgement it says that it holds itself back until what is
#: in flight is delivered; it counts the segments of samples that do not measure the path, and restarts that find it not limited.
HELD_BACK = (
    SHOWN_MODULE.replace("u32 calls, bound;", "u32 calls, bound, marks, segments, restarts, others;")
    .replace("snd_cwnd = 10 + ++ca->calls / 100;", "snd_cwnd = 10;")
    .replace(
        "    if (ca->calls >= 1000)",
        """    ca->segments += rs->is_app_limited * rs->acked_sacked;
    if (++ca->calls % 200 == 1) {
        ca->marks++;
        tcp_sk(sk)->app_limited = tcp_sk(sk)->delivered + tcp_packets_in_flight(tcp_sk(sk));
    }
    if (ca->calls >= 1000)""",
    )
    .replace(
        "static struct tcp_congestion_ops",
        """static void mine_event(struct sock *sk, enum tcp_ca_event event)
{
    struct mine *ca = inet_csk_ca(sk);

    if (event == CA_EVENT_TX_START) {
        ca->restarts++;
        ca->others += !tcp_sk(sk)->app_limited;
    }
}

static struct tcp_congestion_ops""",
    )
    .replace("    .init =", "    .cwnd_event = mine_event,\n    .init =")
)


def held_back(scenario_file: WriteScenario, changes: str = "") -> dict[str, float]:
    """What such a module counts until the end of a scenario, with changes to its flow."""
    counts = ("calls", "marks", "segments", "restarts", "others")
    shows = [f'MODULE_SHOW_INTEGER({name}, ca->{name}, "", "");' for name in counts]
    path = shown_module(scenario_file, "\n".join(["MODULE_SHOW_STATE(struct mine);", *shows]))
    (path.parent / "tcp_mine.c").write_text(HELD_BACK, encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8") + changes, encoding="utf-8")
    series = sojourn.run(path).series.filter(kind="flow")
    return dict(series.filter(pl.col("time") == series["time"].max()).select("measure", "value").rows())


def test_module_holds_itself_back(scenario_file: WriteScenario) -> None:
    """What is sent until app_limited is delivered is no measure of the path: a window of segments each time (tcp_rate.c)."""
    found = held_back(scenario_file)
    assert found["marks"] == found["calls"] // 200 + 1 > 3
    assert 8 <= found["segments"] / found["marks"] <= 12


def test_module_restarts_application_limited(scenario_file: WriteScenario) -> None:
    """app_limited is set where data follow after none was in flight, as tcp_sendmsg does: one is written in 0.3 s."""
    found = held_back(scenario_file, 'periodic = { size = "1448 B", every = "300 ms" }\n')
    assert found["restarts"] >= 3
    assert found["others"] == 0


def test_module_begins_with_its_connection(scenario_file: WriteScenario) -> None:
    """A module is initialised once the handshake is done: it finds the time, and the handshake's RTT (tcp_init_transfer)."""
    shows = "MODULE_SHOW_STATE(struct mine);\n"
    shows += "".join(f'MODULE_SHOW_INTEGER({name}, ca->{name}, "", "");\n' for name in ("born", "least"))
    path = shown_module(scenario_file, shows)
    text = SHOWN_MODULE.replace("u32 calls, bound;", "u32 calls, bound, born, least;").replace(
        "    ca->calls = 0;", "    ca->calls = 0;\n    ca->born = tcp_jiffies32;\n    ca->least = tcp_min_rtt(tcp_sk(sk));"
    )
    (path.parent / "tcp_mine.c").write_text(text, encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8") + 'start = "1.5 s"\n', encoding="utf-8")
    series = sojourn.run(path).series.filter(kind="flow")
    # Of 14 ms and a short packet; a data packet takes 1.2 ms more. The machine is up for 2 s when the run begins.
    assert series.filter(measure="born")["value"].unique().to_list() == pytest.approx([3500 + 14], abs=1)
    assert series.filter(measure="least")["value"].unique().to_list() == pytest.approx([14_250], abs=250)


def test_module_is_described_with_its_state(scenario_file: WriteScenario, capsys: Capture) -> None:
    """`describe` lists what the file beside a module declares, in that order."""
    shown_module(scenario_file)
    module = str(scenario_file().parent / "tcp_mine.c")
    assert status(["describe", module, "--json"]) == 0
    state = json.loads(capsys.readouterr().out)["state"]
    assert [row["name"] for row in state] == ["phase", "bound", "pace", "base", "half", "is_odd", "calls", "even"]
    assert [row["unit"] for row in state[:5]] == ["", "B", "bit/s", "s", "segments"]
    assert state[0]["phases"] == ["free", "bounded"]
    assert status(["check", module]) == 0


def test_question_on_the_state_of_a_module(scenario_file: WriteScenario) -> None:
    """A suite's question is judged on what a module shows; without the file beside it the module is not asked."""
    path = shown_module(scenario_file)
    module = path.parent / "tcp_mine.c"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    flows = [{**data["flows"][0], "tcp": "candidate"}]
    question = {
        **{"id": "bounded", "question": "Is there a bound?", "section": "1", "rule": "must", "states": ["phase", "bound"]},
        "query": "select seed, max(value) filter (measure = 'bound') > 0 as holds from series group by seed",
    }
    suite = {
        **{"name": "ours", "title": "Ours", "source": "ours", "of": "tcp", "comparators": [{"linux": str(module)}]},
        **{"phases": ["free", "bounded"], "seeds": 6, "questions": [question]},
        "scenario": {key: data[key] for key in ("duration", "warm_up", "network", "probe")} | {"flows": flows},
    }
    assert sojourn.evaluate(module, suite=suite, jobs=1)["verdict"].to_list() == ["pass"]
    (path.parent / "tcp_mine.shows.c").unlink()
    with pytest.raises(sojourn.InputError, match=r"does not show phase, bound of its inner state; tcp_mine\.shows\.c beside"):
        sojourn.evaluate(module, suite=suite, jobs=1)


def test_what_a_module_shows_is_part_of_the_run(scenario_file: WriteScenario) -> None:
    """A run's key follows what stands beside the module, and what that includes."""

    def key(shows: str | None) -> str:
        return str(sojourn.run(shown_module(scenario_file, shows)).runs["key"].item())

    without = key(None)
    first = key(SHOWS)
    assert key(SHOWS) == first
    others = [key(SHOWS.replace("2.0", "4.0"))]
    included = scenario_file().parent / "units.h"
    for value in ("2.0", "3.0"):
        included.write_text(f"#define HALF {value}\n", encoding="utf-8")
        others.append(key('#include "units.h"\n' + SHOWS.replace("2.0", "HALF")))
    assert len({without, first, *others}) == 5


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ca->calls % 2,", "ca->cals % 2,", r"tcp_mine\.shows\.c:11: .*no member named 'cals'"),
        ("tcp_min_rtt(tp)", "tcp_least_rtt(tp)", r"tcp_mine\.shows\.c:9: .*tcp_least_rtt"),
        ("ca->calls % 2 == 0", "tp->lost = 1", r"tcp_mine\.shows\.c:13: .*read-only"),
        ("MODULE_SHOW_STATE(struct mine);", "", r"tcp_mine\.shows\.c: says with no MODULE_SHOW_STATE which struct"),
        ("\nMODULE", '\n#include "no.h"\nMODULE', r"tcp_mine\.shows\.c:2: .*no\.h"),
        ("SIZE(bound", "SIZE(base", r"tcp_mine\.c: value base: declared twice"),
        ("SIZE(bound", "SIZE(cwnd", r"tcp_mine\.c: value cwnd: its name is that of one of Sojourn's own samples"),
        ("SIZE(bound", "SIZE(the bound", r"tcp_mine\.c: value the bound: its name may have letters, digits and underscores"),
        (
            "MODULE_SHOW_STATE(struct mine);",
            "MODULE_SHOW_STATE(struct mine);" + "".join(f' MODULE_SHOW_NUMBER(v{n}, 1, "", "");' for n in range(9)),
            r"tcp_mine\.c: shows more than 16 values of its state",
        ),
    ],
)
def test_what_a_module_cannot_show(scenario_file: WriteScenario, capsys: Capture, old: str, new: str, said: str) -> None:
    """What is wrong in the file beside a module is one line with its name, and exit status 2."""
    assert old in SHOWS
    assert status(["run", str(shown_module(scenario_file, SHOWS.replace(old, new, 1)))]) == 2
    assert re.search(said, capsys.readouterr().err.splitlines()[0])


def test_cache_of_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module is compiled once. Another text, compiler, option or header makes another library; the folder does not."""

    def library(folder: str = "one", text: str = MODULE) -> Path:
        path = tmp_path / folder / "tcp_mine.c"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return compiler.compiled(source.read(path, as_linux=True))

    first = library()
    written = first.stat().st_mtime_ns
    assert library("other") == first
    assert first.stat().st_mtime_ns == written
    others = [library(text=MODULE.replace("divisor __read_mostly = 2", "divisor __read_mostly = 3"))]
    monkeypatch.setattr(compiler, "MODULE_OPTIONS", (*compiler.MODULE_OPTIONS, "-DMINE"))
    others.append(library())
    headers = tmp_path / "headers"
    shutil.copytree(compiler.HEADERS, headers)
    glue = headers / "linux" / "glue.c"
    glue.write_text(glue.read_text(encoding="utf-8") + "/* changed */\n", encoding="utf-8")
    monkeypatch.setattr(compiler, "HEADERS", headers)
    monkeypatch.setattr(compiler, "KERNEL", headers / "linux")
    others.append(library())
    program = tmp_path / "cc"
    program.write_text('#!/bin/sh\nexec cc "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("CC", str(program))
    others.append(library())
    assert len({first, *others}) == 5


def test_module_bounds(scenario_file: WriteScenario, capsys: Capture) -> None:
    """A parameter that a module does not have is refused as a built-in's is."""
    assert status(["check", str(with_module(scenario_file, MODULE, ", divider = 3"))]) == 2
    assert 'unknown key of tcp_mine.c "divider", did you mean "divisor"?' in complaint(capsys)


@pytest.mark.kernel
@needs_kernel
@pytest.mark.parametrize("name", MODULES)
def test_modules_of_the_kernel(scenario_file: WriteScenario, name: str) -> None:
    """Each module of the kernel runs unmodified and, alone on a link with a buffer of two round trips, uses most of it."""
    path = KERNEL / f"net/ipv4/tcp_{name}.c"
    scenario = scenario_file(
        ("count = 2", "count = 1"),
        ('tcp = "newreno"', f'tcp = {{ linux = "{path}" }}\nstack = "linux-6"'),
        ('queue = { name = "codel", limit = "100 packets" }', 'queue = { name = "droptail", limit = "2 BDP" }'),
        ('"4 s"', '"10 s"'),
    )
    run = sojourn.run(scenario).runs.row(0, named=True)
    # LP gives way to its own delays (tcp_lp.c, tcp_lp_pkts_acked).
    assert run["total_mbps"] > {"lp": 0.1}.get(name, 7.5)


@pytest.mark.kernel
@needs_kernel
def test_module_hears_of_marks(scenario_file: WriteScenario) -> None:
    """The kernel's DCTCP reduces its window on marks, so that CoDel, which marks, has nothing to drop."""
    path = KERNEL / "net/ipv4/tcp_dctcp.c"
    stack = 'stack = { profile = "linux-6", ecn = "classic" }'
    scenario = scenario_file(
        ('tcp = "newreno"', f'tcp = {{ linux = "{path}" }}\n{stack}'),
        ('name = "codel", ', 'name = "codel", ecn = true, '),
        ('"4 s"', '"10 s"'),
    )
    result = sojourn.run(scenario)
    assert result.queues["marks"].sum() > 0
    assert result.queues["drops"].sum() == 0
    assert (result.flows["mark_reductions"] > 0).all()
