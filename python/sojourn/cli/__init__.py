"""The command line: a thin face on the Python API."""

import sys


def main() -> None:
    """Runs the command line and exits; an error is one line on stderr, never a traceback."""
    try:
        # Here, because an interrupt may come while the libraries are being loaded.
        from sojourn.cli.commands import status
    except KeyboardInterrupt:
        sys.exit("sojourn: interrupted")
    sys.exit(status(sys.argv[1:]))
