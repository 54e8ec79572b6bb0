"""A run as lines of text, for where there is no terminal."""

from sojourn.watch.recent import Queue, Recent, by_group

#: Queues, groups of flows and inner states that a line tells of.
MOST = 4


def line(recent: Recent) -> str:
    """Recent values, on one line with units."""
    queues = recent.queues()
    groups = by_group(recent.flows()).rows(named=True)
    parts = [_queue(queue) for queue in queues[:MOST]]
    parts += [_group(group) for group in groups[:MOST]]
    states = list(recent.states().items())
    parts += [f"{owner}: {state}" for owner, state in states[:MOST]]
    left_out = sum(max(0, len(each) - MOST) for each in (queues, groups, states))
    more = f"; {left_out} more" if left_out else ""
    return f"{recent.now:g} s: {'; '.join(parts)}{more}"


def _queue(queue: Queue) -> str:
    values = [f"{queue.packets} packets"]
    if queue.sojourn is not None:
        values.append(f"sojourn {1e3 * queue.sojourn:.1f} ms")
    return f"{queue.link} {', '.join([*values, *queue.counts])}"


def _group(group: dict[str, float | None]) -> str:
    cwnd = "" if group["cwnd"] is None else f", cwnd {group['cwnd'] / 1e3:.1f} kB"
    count = "" if group["flows"] == 1 else f"{group['flows']} x "
    return f"{group['group']} {count}{group['algorithm']} {group['mbps']:.2f} Mbit/s{cwnd}"
