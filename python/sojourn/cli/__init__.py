"""The command line: a thin layer on the Python API.

It starts at once: a command's module loads only what its options need, and the rest when the command is carried out.
"""

import os
import sys

from sojourn.cli import interrupts, streams

#: The allocator of polars returns free memory at once, not after half a second. With millions of rows that is what else would be
#: most of a command's memory. Source: jemalloc's manual, "TUNING", opt.dirty_decay_ms.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")


def main() -> None:
    """Runs the command line and exits; an error is one line on stderr, never a traceback."""
    try:
        interrupts.catch()
        streams.prepare()
        # Here, because an interrupt may come while the libraries are being loaded.
        from sojourn.cli.commands import status

        ended = status(sys.argv[1:])
    except KeyboardInterrupt:
        ended = interrupts.complain()
    interrupts.end(ended)
