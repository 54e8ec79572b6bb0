"""Ctrl-C and SIGTERM: one line, and exit status 130 or 143, whenever they come."""

import atexit
import os
import sys

TYPE_CHECKING = False  # as in sojourn/__init__.py: this is the first thing that is loaded
if TYPE_CHECKING:
    import signal as signals
    from collections.abc import Callable
    from types import FrameType, TracebackType
    from typing import NoReturn

    Handler = Callable[[int, FrameType | None], object] | signals.Handlers
else:
    # What the module signal is made of, and built into Python: signal itself takes longer to load than all of this.
    import _signal as signals

#: The signals that end a command, and what is said of each.
SIGNALS: dict[int, str] = {signals.SIGINT: "interrupted", signals.SIGTERM: "terminated"}

#: What a shell adds to the number of the signal that ended a command.
ENDED_BY = 128

#: What begins the names of the files in which Python's own import machinery is.
_IMPORTING = "<frozen importlib"

#: Shows a terminal's cursor, which a bar hides.
_SHOW_CURSOR = b"\x1b[?25h"


def catch() -> None:
    """Has a signal end the process at once while modules are being loaded, and raise ``KeyboardInterrupt`` otherwise.

    Modules that are interrupted while they load may report something else, or nothing; and there is nothing to clean up yet. A
    second signal ends the process at once: a store loses nothing by that. A process that ignores a signal, such as one started by
    nohup, keeps ignoring it.
    """
    for number in SIGNALS:
        if signals.getsignal(number) in (signals.default_int_handler, signals.SIG_DFL):
            signals.signal(number, _handle)
    # After all else that is done at exit. From then on Python would hand signals to the system, which ends the process by them.
    atexit.register(_set, signals.SIG_IGN)


class Raised:
    """While it is entered, a first signal always raises ``KeyboardInterrupt``: there is something to clean up."""

    def __enter__(self) -> None:
        _state.cleans_up = True

    def __exit__(self, kind: "type[BaseException] | None", error: BaseException | None, trace: "TracebackType | None") -> None:
        _state.cleans_up = False


def came() -> bool:
    """Whether there has been a signal: libraries may report it as an error of their own."""
    return _state.number != 0


def leave(clean_up: "Callable[[], None] | None" = None) -> None:
    """Has a signal end the process at once from now on, after a last thing to clean up: everything else is done and said."""
    _state.clean_up = clean_up
    _set(_leave)


def complain() -> int:
    """Says what ended the command, and returns the exit status."""
    number = _state.number or signals.SIGINT
    os.write(2, f"sojourn: {SIGNALS[number]}\n".encode())
    return ENDED_BY + number


def end(status: int) -> "NoReturn":
    """Ends the process with an exit status. What was interrupted leaves objects that libraries would complain of."""
    leave()
    if not came():
        sys.exit(status)
    from contextlib import suppress

    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):  # nobody reads it, or it is closed
        sys.stdout.flush()
    os._exit(status)


class _State:
    #: The first signal that came.
    number = 0
    cleans_up = False
    #: What is done before the process ends at once.
    clean_up: "Callable[[], None] | None" = None


_state = _State()


def _set(handler: "Handler") -> None:
    """Changes what happens on those signals that are caught."""
    for number in SIGNALS:
        if signals.getsignal(number) in (_handle, _leave):
            signals.signal(number, handler)


def _handle(number: int, frame: "FrameType | None") -> None:
    if _state.number:
        _leave(number, frame)
    _state.number = number
    while frame is not None and not _state.cleans_up:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            _leave(number, frame)
        frame = frame.f_back
    raise KeyboardInterrupt


def _leave(number: int, _frame: "FrameType | None") -> None:
    _state.number = _state.number or number
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)
    if _state.clean_up is not None:
        _state.clean_up()
    os._exit(complain())
