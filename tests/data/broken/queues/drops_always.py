"""Drops a tenth of all packets, whether there is a queue or not."""

from sojourn.plugins import DROP, PASS, Queue


class DropsAlways(Queue):
    """No queue, and no use of the link."""

    draws = "which packets are dropped"

    def release(self, packet, line, queue):
        """Decides of a packet that is to leave."""
        return DROP if self.random.unit() < 0.1 else PASS
