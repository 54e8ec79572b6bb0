"""Drops what finds three packets before it."""

from sojourn.plugins import DROP, PASS, Queue


class FearsBursts(Queue):
    """A queue of three packets, whatever its limit."""

    def admit(self, packet, line, queue):
        """Decides of an arrival."""
        return DROP if queue.packets > 8 else PASS
