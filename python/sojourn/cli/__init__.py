"""The command line: a thin layer on the Python API.

It starts at once: a command's module loads only what its options need, and the rest when the command is carried out.
"""

import sys

from sojourn.cli import interrupts


def main() -> None:
    """Runs the command line and exits; an error is one line on stderr, never a traceback."""
    try:
        interrupts.catch()
        # Here, because an interrupt may come while the libraries are being loaded.
        from sojourn.cli.commands import status

        ended = status(sys.argv[1:])
    except KeyboardInterrupt:
        ended = interrupts.complain()
    interrupts.leave()
    sys.exit(ended)
