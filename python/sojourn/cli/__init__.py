"""The command line: a thin layer on the Python API.

It starts at once: a command's module loads only what its options need, and the rest when the command is carried out.
"""

import gc
import os
import sys

from sojourn.cli import interrupts, streams

#: The allocator of polars returns free memory at once, not after half a second. With millions of rows that is what else would be
#: most of a command's memory. Source: jemalloc's manual, "TUNING", opt.dirty_decay_ms.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")

#: Containers that a command makes between two searches for cycles among the youngest. Python's own number, some hundreds, has it
#: look through all modules that it loads, and all cells that it keeps, again and again; cycles are few.
MADE_BETWEEN_SEARCHES = 50_000

gc.set_threshold(MADE_BETWEEN_SEARCHES, *gc.get_threshold()[1:])


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
