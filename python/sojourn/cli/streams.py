"""The standard streams: open, and able to take any text."""

import io
import os
import sys


def prepare() -> None:
    """Opens what is closed, for nothing, and has a stream whose encoding lacks a character write ``?`` in its place.

    With a closed stream the next file that is opened would get its number, and what a library prints would go into that file.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            while os.open(os.devnull, os.O_RDWR) < number:
                pass
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115, it stays open
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def write_utf8() -> None:
    """Has standard output write UTF-8, whatever the locale: what programs read is in that."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="strict")
