"""Lets its buffer fill."""

from sojourn.plugins import PASS, Queue


class NeverDrops(Queue):
    """A tail drop that calls itself active."""

    def release(self, packet, line, queue):
        """Decides of a packet that is to leave."""
        return PASS
