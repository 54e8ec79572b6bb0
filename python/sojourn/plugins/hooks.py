"""What a file in Python extends: the hooks of a congestion control and of a queue discipline.

What hooks are shown is valid during the call. Times are in seconds, sizes in bytes, rates in bits per second.
"""

from sojourn._engine import Ack, Delivery, Event, LostSegment, Packet, QueueView, Random, Recorder, Window

#: What ``Queue.admit`` and ``Queue.release`` return: the packet stays; it is marked if it is ECN-capable, and dropped otherwise;
#: it is dropped.
PASS, MARK, DROP = 0, 1, 2


class Recording:
    """What records values beside Sojourn's own samples."""

    _recorder: Recorder

    def record(self, name: str, value: float) -> None:
        """Record a value, at the time of the hook: a row of ``series`` with this name as ``measure``."""
        self._recorder.record(name, value)


class CongestionControl(Recording):
    """A congestion control. ``increase`` and ``on_congestion`` are required; what other hooks a class defines is called.

    Each flow has an instance. Its parameters, ``flow`` and ``random`` are set before ``__init__`` is called, without arguments.
    """

    #: One line that says what it is; by default the first of the class's docstring.
    title = ""
    #: A paper or RFC.
    source = ""
    #: What it draws random numbers for; with it ``self.random`` is the flow's own stream.
    draws: str | None = None
    #: Whether it alone sets cwnd, in ``on_delivery``, also in recovery; ``increase`` is not called.
    governs = False
    #: Whether it asks for one-way delays, which the receiver then reports.
    one_way_delay = False
    #: "ect0" or "ect1": Accurate ECN on all its packets, with this codepoint.
    ecn: str | None = None
    #: Whether it asks for VCP's load factors.
    load_factor = False
    #: A loss recovery of its own, such as "rack"; by default the stack's.
    recovery: str | None = None

    #: The number of its flow, as in the results.
    flow: int
    random: Random

    def increase(self, window: Window, ack: Ack) -> None:
        """Grow ``window.cwnd`` in congestion avoidance, by what ``ack.credit`` is worth."""

    def on_congestion(self, window: Window, event: Event) -> None:
        """Answer congestion; ``event.kind`` is "loss", "ecn" (both: set ssthresh), "timeout" or "spurious"."""

    def on_ack(self, window: Window, ack: Ack) -> None:
        """See an acknowledgement of new data outside fast recovery, before the window grows."""

    def increase_in_slow_start(self, window: Window, ack: Ack) -> int | None:
        """Grow ``window.cwnd`` below ssthresh and return the credit that is left; None leaves it to the flow's slow start."""

    def on_delivery(self, window: Window, delivery: Delivery) -> None:
        """See an acknowledgement in any phase, with a rate sample."""

    def on_segment_lost(self, window: Window, lost: LostSegment) -> None:
        """See a segment that is found lost."""

    def on_restart(self, window: Window, now: float) -> None:
        """Segments are about to leave after none was in flight for want of data."""

    def on_idle(self, window: Window, idle: float, now: float) -> None:
        """The application has data again after ``idle`` seconds. A window that falls after a pause has not fallen yet."""

    def on_established(self, window: Window, srtt: float, now: float) -> None:
        """The handshake has given a smoothed round-trip time, or zero if it gave none. May set the first window."""

    def pacing_rate(self, window: Window, srtt: float) -> float | None:
        """Return the rate at which segments leave, in bits of payload per second; None leaves it to the stack."""

    def pacing_quantum(self, mss: int) -> int:
        """Return how many bytes of payload leave together where segments are paced."""
        return mss


class Queue(Recording):
    """A queue discipline. The packets stay in Sojourn, in lines with a common limit; the hooks decide. One is required.

    Each queue has an instance. Its parameters, ``link`` and ``random`` are set before ``__init__`` is called, without arguments.
    """

    #: As of ``CongestionControl``.
    title = ""
    source = ""
    draws: str | None = None

    #: How many first-in first-out lines there are; asked once.
    lines = 1
    #: The interval of ``on_timer`` in seconds; None for no timer. Asked at first and each time that it fired.
    timer_interval: float | None = None

    #: The link of its queue, as in the results.
    link: str
    random: Random

    def admit(self, packet: Packet, line: int, queue: QueueView) -> int | None:
        """Decide of an arrival for which there is room: ``PASS`` (or None), ``MARK`` or ``DROP``."""

    def release(self, packet: Packet, line: int, queue: QueueView) -> int | None:
        """Decide of a packet that is to leave, as of an arrival; if it is dropped, the next is looked at."""

    def classify(self, packet: Packet, queue: QueueView) -> int:  # noqa: ARG002, hooks may look at them
        """Return the line that an arrival goes into."""
        return 0

    def next_line(self, queue: QueueView) -> int:
        """Return the line that sends next; it must have a packet."""
        return next(line for line in range(self.lines) if queue.packets_of(line))

    def overflow(self, packet: Packet, queue: QueueView) -> None:
        """See an arrival that is dropped, as there is no room for it."""

    def set_link_rate(self, rate: int) -> None:
        """See the rate of the link, before the first packet and at each change."""

    def on_timer(self, queue: QueueView) -> None:
        """See that the timer fired."""


def hooks_of(base: type) -> tuple[str, ...]:
    """The hooks that a class which extends this one may define."""
    return tuple(name for name, hook in vars(base).items() if callable(hook) and not name.startswith("_"))


def defined(kind: type, base: type) -> list[str]:
    """The hooks that a class defines itself."""
    return [hook for hook in hooks_of(base) if getattr(kind, hook) is not getattr(base, hook)]
