"""Drops nothing of its favourite flow and more of all others."""

from sojourn.plugins import MARK, PASS, Queue


class Favours(Queue):
    """Flow 0 goes free."""

    draws = "which packets are dropped"

    def release(self, packet, line, queue):
        """Decides of a packet that is to leave."""
        if packet.flow == 0 and queue.packets < 30:
            return PASS
        waited = queue.now - packet.since
        return MARK if waited > 0.002 and self.random.unit() < 0.05 else PASS
