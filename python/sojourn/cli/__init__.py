"""The command line: a thin face on the Python API."""

from sojourn.cli.commands import main

__all__ = ["main"]
