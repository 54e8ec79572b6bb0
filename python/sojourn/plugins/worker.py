"""A process that runs users' code, so that what crashes or never returns ends only this process.

It answers requests one after the other: ``(kind, patience, ...)`` is answered with ``(OK, answer)``, ``(WRONG, message, output)``
or ``(FAILED, message)``. It ends when the process that started it does.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TextIO, cast

from sojourn import _engine
from sojourn.errors import PANIC, CompilationFailed
from sojourn.plugins import compiler, loading
from sojourn.plugins.loading import NeverReturned
from sojourn.plugins.source import of_json

#: What requests ask for.
DESCRIBE, RUN, EXERCISE, ORACLE = "describe", "run", "exercise", "oracle"
#: How answers begin: it worked; what was given is wrong; it could not be done; nor can anything else, and the process ends.
OK, WRONG, FAILED, ENDED = "ok", "wrong", "failed", "ended"

#: Seconds that a hook which was told to stop has for that.
GRACE = 1.0


#: The most data of a run (docs/decisions/021-memory-of-a-run.md), own files included. The process has that beside its own.
MOST_BYTES = 4 * 2**30

#: What the interpreter calls the starting of processes: the table of audit events in its documentation.
STARTS = frozenset(("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen"))


class Prints:
    """What users' code prints, line by line: each begins with the run and, in a hook, with the flow."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._line = ""
        #: What people call the run that is carried out; empty outside of runs.
        self.run = ""

    def write(self, text: str) -> int:
        """Keeps what is no whole line yet."""
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            flow = _engine.plugin_flow()
            told = [f"run {self.run}"] if self.run else []
            told += [f"flow {flow}"] if self.run and flow is not None else []
            self._file.write(f"{', '.join(told)}: {line}\n" if told else f"{line}\n")
        self._file.flush()
        return len(text)

    def flush(self) -> None:
        """Whole lines are out already."""


def _no_debugger(*_: object, **__: object) -> None:
    raise RuntimeError("breakpoint() needs the terminal: sojourn watch FILE, which makes the run in its own process")


class Watchdog:
    """Stops code of the user that does not return."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._main = threading.main_thread().ident or 0
        self._parent = os.getppid()
        #: Seconds that a hook may take; none while nothing is asked for.
        self._patience: float | None = None
        self._files: list[str] = []
        self._loading = 0
        threading.Thread(target=self._watch, daemon=True).start()

    @contextlib.contextmanager
    def during(self, files: list[str], patience: float) -> Iterator[None]:
        """Watches hooks of these files meanwhile."""
        self._files, self._patience = files, patience
        try:
            yield
        finally:
            self._patience = None

    @contextlib.contextmanager
    def loading(self) -> Iterator[None]:
        """Watches the user's code that is no hook.

        While a library is opened no other thread of Python goes on. So the system's alarm ends the process if constructors do not
        return.
        """
        self._loading += 1
        signal.setitimer(signal.ITIMER_REAL, (self._patience or 0) + 2 * GRACE)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._loading += 1

    def _watch(self) -> None:
        seen, since, told = (0, 0), time.monotonic(), False
        while True:
            patience = self._patience
            time.sleep(0.25 if patience is None else min(0.25, patience / 4))
            if os.getppid() != self._parent:
                os._exit(1)
            calls = (_engine.plugin_calls(), self._loading)
            is_inside = calls[0] % 2 == 1 or calls[1] % 2 == 1
            if patience is None or not is_inside or calls != seen:
                seen, since, told = calls, time.monotonic(), False
                continue
            waited = time.monotonic() - since
            said = f"has not returned for {patience:g} s"
            if waited >= patience and not told:
                told = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._main), ctypes.py_object(_never_returned(said)))
            elif waited >= patience + GRACE:
                self._connection.send((ENDED, f"{self._place()}: a hook {said}"))
                os._exit(1)

    def _place(self) -> str:
        """The line of the user's file that the main thread is at, or the files."""
        frame = sys._current_frames().get(self._main)
        while frame is not None:
            if frame.f_code.co_filename in self._files:
                return f"{frame.f_code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back
        return ", ".join(self._files)


def _never_returned(said: str) -> type[NeverReturned]:
    """An exception that says how long it took: what is raised in another thread is a class."""

    class Told(NeverReturned):
        def __str__(self) -> str:
            return said

    return Told


def answer(request: tuple[Any, ...], watchdog: Watchdog, prints: Prints) -> tuple[Any, ...]:
    """The answer to a request."""
    kind, patience, *arguments = request
    try:
        if kind == DESCRIBE:
            source = of_json(arguments[0])
            with watchdog.during([source.file], patience), watchdog.loading():
                return OK, loading.load(source).described()
        if kind == EXERCISE:
            plugin, of, parameters, seed = arguments
            with watchdog.during([plugin["file"]], patience):
                with watchdog.loading():
                    loaded_plugin = loading.load(of_json(plugin))
                exercise = _engine.exercise_control if of == "control" else _engine.exercise_queue
                return OK, exercise(loaded_plugin, json.dumps(parameters), seed)
        text, plugins, *label = arguments
        prints.run = "".join(label)
        with watchdog.during([plugin["file"] for plugin in plugins], patience):
            with watchdog.loading():
                loaded = loading.load_all(plugins)
            return OK, _engine.oracle(text, loaded) if kind == ORACLE else _engine.run(text, None, loaded)
    except CompilationFailed as error:
        return WRONG, str(error), error.output
    except (_engine.SpecificationError, ValueError) as error:
        return WRONG, str(error), ""
    except NeverReturned as error:
        return WRONG, f"its top level {error}", ""
    except Exception as error:
        return FAILED, str(error) or "out of memory"
    except BaseException as error:
        if type(error).__name__ != PANIC:
            raise
        return FAILED, f"the simulator found a broken invariant: {error} ({_engine.panicked_at()})"


def _refuse_processes(event: str, _arguments: object) -> None:
    """Keeps files in Python from starting processes, without end by mistake; only the compiler of those in C is one."""
    if event in STARTS and not compiler.is_running():
        raise PermissionError("own files start no processes")


def _tell(raised: threading.ExceptHookArgs) -> None:
    """Says in one line what a thread of the user's raised."""
    frames = traceback.extract_tb(raised.exc_traceback)
    place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    said = " ".join(str(raised.exc_value).split())
    print(f"{place}a thread: {raised.exc_type.__name__}{f': {said}' if said else ''}", file=sys.stderr)


def _bytes_of_data() -> int:
    """What the process has now of what ``RLIMIT_DATA`` limits (``man 5 proc_pid_status``, VmData)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmData:"))


def _end_with(parent: int) -> None:
    """Has the system end this process when nobody has the other end of a pipe open any more.

    Unlike the watchdog, SIGIO (``man 7 signal``) needs no lock of the interpreter, which a hook may hold.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(parent, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(parent, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        if not os.read(parent, 1):
            os._exit(1)


def main(descriptor: int, parent: int) -> None:
    """Answers requests until there are no more."""
    _end_with(parent)
    # An interrupt from the terminal is for the process that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.excepthook = _tell
    # A module's own allocations fail in one line; those of the engine end this process.
    most = _bytes_of_data() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    sys.addaudithook(_refuse_processes)
    connection = Connection(descriptor)
    watchdog, prints = Watchdog(connection), Prints(sys.stdout)
    sys.stdout, sys.breakpointhook = cast(TextIO, prints), _no_debugger
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            connection.send(answer(connection.recv(), watchdog, prints))
            prints.run = ""


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
