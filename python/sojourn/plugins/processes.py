"""The processes that run users' code for this one: started when they are needed, kept for the next request."""

import atexit
import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from sojourn.plugins.worker import ENDED, FAILED

#: Seconds that a hook, or the top level of a user's file, may take.
PATIENCE = 10.0

#: Seconds that a request, such as a whole run, may take.
LONGEST = 24 * 3600.0


#: What people call the run that this thread carries out; what the user's code prints begins with it.
RUN: ContextVar[str] = ContextVar("RUN", default="")


class Crashed(Exception):
    """A process ended while it ran a user's code; the text says how."""


class Worker:
    """A process that answers requests; see ``worker``."""

    def __init__(self) -> None:
        here, there = multiprocessing.Pipe()
        # Nobody writes to it: that its writer is gone says that this process is.
        ended, self._alive = os.pipe()
        # Of what users' code prints, stdout belongs to the command's results. -P: files beside the scenario are no modules.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sojourn.plugins.worker", str(there.fileno()), str(ended)],
            pass_fds=[there.fileno(), ended],
            stdin=subprocess.DEVNULL,
            stdout=2,
        )
        there.close()
        os.close(ended)
        self._connection = here

    def ask(self, request: tuple[Any, ...]) -> tuple[Any, ...]:
        """Sends a request and waits for the answer.

        Raises:
            Crashed: the process ended meanwhile.
        """
        try:
            self._connection.send(request)
            if not self._connection.poll(LONGEST):
                self.kill()
                self.close()
                raise Crashed(f"had not ended after {LONGEST:g} s; make the run shorter")
            answer: tuple[Any, ...] = self._connection.recv()
        except (EOFError, OSError):
            self.close()
            raise Crashed(self._ending()) from None
        return answer

    def _ending(self) -> str:
        code = self._process.returncode
        if code == -signal.SIGALRM:
            return "did not return"
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"crashed with {signal.Signals(-code).name}"
        return f"ended its process with status {code}"

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()

    def close(self) -> None:
        """Lets the process end."""
        self._connection.close()
        try:
            self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._alive)


class Pool:
    """Processes that wait for requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._owner = os.getpid()

    def take(self) -> Worker:
        """A process that nobody else asks."""
        with self._lock:
            if self._owner != os.getpid():
                # After a fork the processes are the parent's.
                self._idle, self._owner = [], os.getpid()
            if self._idle:
                return self._idle.pop()
        return Worker()

    def give_back(self, worker: Worker) -> None:
        """The process may be asked by others."""
        with self._lock:
            self._idle.append(worker)

    def close(self) -> None:
        """Ends the processes that wait."""
        if self._owner == os.getpid():
            while self._idle:
                self._idle.pop().close()


POOL = Pool()
atexit.register(POOL.close)


def ask(request: tuple[Any, ...], on_taken: Callable[[Worker], None] = lambda _: None) -> tuple[Any, ...]:
    """Has a process answer a request; ``on_taken`` is told which.

    Raises:
        Crashed: the process ended meanwhile.
    """
    worker = POOL.take()
    on_taken(worker)
    answer = worker.ask(request)
    if answer[0] == ENDED:
        worker.close()
        return FAILED, *answer[1:]
    POOL.give_back(worker)
    return answer
