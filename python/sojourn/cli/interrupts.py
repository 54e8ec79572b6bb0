"""Ctrl-C: one line and exit status 130, whenever it comes."""

import os
import signal

TYPE_CHECKING = False  # as in sojourn/__init__.py: this is the first thing that is loaded
if TYPE_CHECKING:
    from types import FrameType, TracebackType

INTERRUPTED = 130

_MESSAGE = b"sojourn: interrupted\n"

#: What begins the names of the files in which Python's own import machinery is.
_IMPORTING = "<frozen importlib"


def catch() -> None:
    """Has an interrupt end the process at once while modules are being loaded, and raise ``KeyboardInterrupt`` otherwise.

    Modules that are interrupted while they load may report something else, or nothing; and there is nothing to clean up yet. A
    process that ignores interrupts, such as one started by nohup, keeps ignoring them.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _handle)


class Raised:
    """While it is entered, an interrupt always raises ``KeyboardInterrupt``: there is something to clean up."""

    def __enter__(self) -> None:
        _state.cleans_up = True

    def __exit__(self, kind: "type[BaseException] | None", error: BaseException | None, trace: "TracebackType | None") -> None:
        _state.cleans_up = False


def came() -> bool:
    """Whether there has been an interrupt: libraries may report it as an error of their own."""
    return _state.came


def die() -> None:
    """Has an interrupt end the process without a word from now on."""
    if signal.getsignal(signal.SIGINT) is _handle:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def complain() -> int:
    """Says that the user interrupted, and returns the exit status."""
    os.write(2, _MESSAGE)
    return INTERRUPTED


class _State:
    came = cleans_up = False


_state = _State()


def _handle(_number: int, frame: "FrameType | None") -> None:
    _state.came = True
    while frame is not None and not _state.cleans_up:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            os._exit(complain())
        frame = frame.f_back
    raise KeyboardInterrupt
