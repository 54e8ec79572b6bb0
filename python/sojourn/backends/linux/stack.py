"""Stacks: our settings as sysctls of a host and as options of the routes that its flows take.

The names are those of Documentation/networking/ip-sysctl.rst and of ip-route(8).
"""

import math
from collections.abc import Mapping

from sojourn.backends.linux.algorithms import Wishes
from sojourn.backends.linux.limits import Limitations
from sojourn.backends.linux.units import milliseconds, nanoseconds
from sojourn.catalogue import Value
from sojourn.errors import InputError
from sojourn.linux import cache
from sojourn.scenario.model import Scenario

#: Settings that Linux has one value for, and that value (include/net/tcp.h unless another file is named).
CONSTANT: dict[str, tuple[Value, str]] = {
    "initial_window_after_syn_loss": (
        1,
        "a window of one segment after more than one retransmission of the SYN (tcp_init_transfer)",
    ),
    "counting": ("segments", "a count of the segments that are delivered (tcp_cong_control)"),
    "quick_acks": (16, "16 quick acknowledgements (TCP_MAX_QUICKACKS)"),
    "quick_acks_on_marks": (2, "two quick acknowledgements when marks begin (tcp_input.c, __tcp_ecn_check_ce)"),
    "timer_tick": (10**9, "timers with ticks of 1 ms, HZ 1000 (kernel/time/timer.c)"),
    "receive_window_grows": (True, "a receive window that grows (tcp_input.c, tcp_grow_window)"),
    "send_buffer_grows": (True, "a send buffer that grows (tcp_input.c, tcp_sndbuf_expand)"),
    "conceals_losses": (False, "receivers that acknowledge what has arrived"),
    "delayed_ack_timeout": (40 * 10**9, "40 ms at least (TCP_DELACK_MIN)"),
    "initial_rto": (10**12, "1 s (TCP_TIMEOUT_INIT)"),
    "rto_after_syn_loss": (3 * 10**12, "3 s (TCP_TIMEOUT_FALLBACK)"),
    "maximum_rto": (120 * 10**12, "120 s (TCP_RTO_MAX)"),
    "clock_granularity": (200 * 10**9, "the minimum RTO (tcp_rtt_estimator)"),
    "timestamp_clock": (0, "RTTs in us"),
    "rtt_samples": ("segments", "the times at which segments were sent (tcp_input.c, tcp_clean_rtx_queue)"),
    "pacing_clock": ("host", "credit for late segments (tcp_output.c, tcp_update_skb_after_send)"),
    "pacing_burst": (1, "single segments, since packets are not cut here (gso_max_segs)"),
    "receive_offload": (0, "single segments, since its links merge none (gro_list in net/core/gro.c)"),
    "send_offload": (False, "single segments, since packets are not cut here (gso_max_segs)"),
    "ecn_on_control": (False, "ECN on data segments only"),
    "abe": (False, "no ABE"),
    "prr_on_marks": (True, "reductions by PRR after marks (tcp_input.c, tcp_enter_cwr)"),
    "limited_transmit": (True, "limited transmit"),
    "repeated_fast_retransmit": (True, "another fast retransmit"),
    "flight_size": ("window", "the congestion window (tcp_reno_ssthresh)"),
}

#: The sysctls of loss recoveries that Linux has: RACK and tail loss probes, or neither (ONLY_RACK); without SACK its own
#: (tcp_input.c, tcp_is_reno), which is also what it has for RFC 6582's.
_RECOVERY = {"rack": (1, 3), "prr": (0, 0)}
_WITHOUT_SACK = ("linux_newreno", "newreno")

#: How the profiles of simulators begin: no kernel has their stacks.
_SIMULATORS = ("ns2", "ns3")

#: What the buffers of a socket are at least, and what the receive buffer begins with: Linux's defaults (tcp_rmem in
#: ip-sysctl.rst). If it began with its full size, thousands of segments would be acknowledged at once, one by one, while the
#: window grows into it (net/ipv4/tcp_input.c, tcp_grow_window).
_LEAST_BUFFER, _FIRST_RECEIVE_BUFFER = 4096, 131072

#: What the send buffer begins with; it grows with the congestion window (tcp_sndbuf_expand).
_FIRST_SEND_BUFFER = 65536

#: The most acknowledgements that are delayed in a row, Linux's default; 0 turns the delay off (tcp_comp_sack_nr in
#: ip-sysctl.rst).
_COMPRESSED_ACKNOWLEDGEMENTS = 44

#: They are delayed by a twentieth of the round-trip time at most, which kernels from this version on are to be told
#: (tcp_input.c, __tcp_ack_snd_check).
_SHARE_IS_SET, _COMPRESSION_PERCENT = (7, 0), 5

#: Of a receive buffer the window is half (tcp_adv_win_scale is 1), the rest is for overhead; from this version on as much as data
#: are of the memory of the first segment that is larger than what a receiver expects, in parts of 256 (tcp_input.c,
#: tcp_measure_rcv_mss, tcp_initialize_rcv_mss). The rest of that memory is the packet's structures and headers, as measured.
_MEASURED_RATIO, _PARTS, _EXPECTED_SEGMENT, _STRUCTURES = (6, 6), 256, 536, 832


#: Both ends of a connection ask for what the stack has (tcp_ecn in ip-sysctl.rst). DCTCP's echo is that of classic ECN's bits.
_ECN = {"off": 0, "classic": 1, "accurate": 3}


def check_profiles(scenario: Scenario) -> None:
    """Refuses the profile of another stack than a kernel's: most of what it says would be left out without a word.

    Raises:
        InputError: somebody asked for one.
    """
    named = {"stack": scenario.stack, **{f"flows.{place}.stack": flows.stack for place, flows in enumerate(scenario.flows)}}
    for key, chosen in named.items():
        if chosen is not None and chosen.profile is not None and chosen.profile.startswith(_SIMULATORS):
            raise InputError(f'{key}.profile: Linux has its own stack, not that of {chosen.profile}; write "linux-6" or "rfc"')


def sysctls(
    stack: Mapping[str, Value], algorithm: str, wishes: Wishes, limitations: Limitations, version: tuple[int, ...]
) -> dict[str, str]:
    """The settings of a host whose flows have this stack and this congestion control, by their path below ``net/ipv4``."""
    for name, (value, what) in CONSTANT.items():
        if stack[name] != value:
            limitations.note(f"stack.{name}", f"Linux has {what}")
    recovery = str(stack["recovery"])
    if recovery not in _RECOVERY and stack["sack"]:
        limitations.note("stack.recovery", "Linux has rack, and prr without it")
    elif recovery not in (*_RECOVERY, *_WITHOUT_SACK):
        limitations.note("stack.recovery", f"Linux without SACK has {_WITHOUT_SACK[0]}")
    elif recovery == "prr" and stack["sack"] and version >= cache.ONLY_RACK:
        limitations.note("stack.recovery", "Linux from 6.17 on has rack, and prr without it no more")
    if stack["ecn"] == "accurate" and algorithm != "dctcp" and version < cache.ACCURATE_ECN:
        limitations.note("stack.ecn", "Linux before 7.0 has classic ECN, and DCTCP's echo with DCTCP only")
    if wishes.ect1 != (stack["ecn_codepoint"] == "ect1"):
        sends = "ECT(1)" if wishes.ect1 else "ECT(0)"
        limitations.note("stack.ecn_codepoint", f"{algorithm} of Linux sends {sends}")
    asks = int(stack["ecn_syn_retries"])  # type: ignore[arg-type]
    if stack["ecn"] != "off" and 0 < asks < int(stack["syn_retries"]):  # type: ignore[arg-type]
        limitations.note("stack.ecn_syn_retries", "Linux asks for ECN in its first SYN, or in all")
    if stack["ecn"] == "off" and wishes.ecn:
        limitations.note("stack.ecn", f"{algorithm} of Linux always asks for ECN")
    rack, probes = _RECOVERY.get(recovery, _RECOVERY["prr"])
    compression = int(stack["sack_compression"])  # type: ignore[arg-type]
    share = {"tcp_comp_sack_rtt_percent": str(_COMPRESSION_PERCENT)} if version >= _SHARE_IS_SET else {}
    window = _buffer(int(stack["receive_buffer"]), int(stack["segment_size"]), version)  # type: ignore[arg-type]
    # With random offsets TCP-LP's one-way delays mean nothing (net/ipv4/tcp_lp.c, tcp_lp_remote_hz_estimator).
    timestamps = 0 if not stack["timestamps"] else 2 if algorithm == "lp" else 1
    return {
        "tcp_timestamps": str(timestamps),
        "tcp_sack": str(int(bool(stack["sack"]))),
        "tcp_dsack": str(int(bool(stack["duplicate_sack"]))),
        "tcp_ecn": str(_ECN["classic" if algorithm == "dctcp" and stack["ecn"] != "off" else str(stack["ecn"])]),
        # The nearest to so many retransmissions that ask: none, unless all do.
        "tcp_ecn_fallback": str(int(asks < int(stack["syn_retries"]))),  # type: ignore[arg-type]
        "tcp_syn_retries": str(stack["syn_retries"]),
        "tcp_retries2": str(stack["data_retries"]),
        "tcp_reordering": str(stack["duplicate_ack_threshold"]),
        "tcp_comp_sack_nr": str(_COMPRESSED_ACKNOWLEDGEMENTS if compression else 0),
        **({"tcp_comp_sack_delay_ns": str(nanoseconds(compression)), **share} if compression else {}),
        "tcp_recovery": str(rack),
        "tcp_early_retrans": str(probes),
        "tcp_wmem": f"{_LEAST_BUFFER} {_FIRST_SEND_BUFFER} {stack['send_buffer']}",
        "tcp_rmem": f"{_LEAST_BUFFER} {min(_FIRST_RECEIVE_BUFFER, window)} {window}",
        # Nothing is learnt from one connection for the next.
        "tcp_no_metrics_save": "1",
    }


def _buffer(window: int, segment: int, version: tuple[int, ...]) -> int:
    """The receive buffer with a window, of segments with so much data."""
    is_measured = version >= _MEASURED_RATIO and segment > _EXPECTED_SEGMENT
    ratio = _PARTS * segment // (segment + _STRUCTURES) if is_measured else _PARTS // 2
    return math.ceil(window * _PARTS / ratio)


def route_options(stack: Mapping[str, Value], limitations: Limitations) -> dict[str, int]:
    """The metrics of a route that flows with this stack take, at either end, by their names in ip-route(8)."""
    count = stack["delayed_ack_count"]
    if count not in (1, 2):
        limitations.note("stack.delayed_ack_count", "Linux acknowledges every second segment, or every one")
    window, timeout = int(stack["initial_window"]), milliseconds(int(stack["minimum_rto"]))  # type: ignore[arg-type]
    return {"initcwnd": window, "rto_min": timeout, **({"quickack": 1} if count == 1 else {})}


def packet_size(stack: Mapping[str, Value]) -> int:
    """The IP packet of a full segment: 40 bytes of headers, and 12 of timestamps (RFC 7323, section 3)."""
    return int(stack["segment_size"]) + 40 + (12 if stack["timestamps"] else 0)  # type: ignore[arg-type]
