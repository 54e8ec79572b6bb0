"""Admits eight packets for four seconds, and as many as there is room for in the next four."""

from sojourn.plugins import DROP, PASS, Queue


class Swings(Queue):
    """A queue that is never the same."""

    def admit(self, packet, line, queue):
        """Decides of an arrival."""
        return DROP if queue.packets > 8 and int(queue.now) % 8 < 4 else PASS
