"""Answers a guest while its kernel waits: no virtual time passes from a question to its answer (guest/asked.c)."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

#: Takes what a guest tells, and says what is to be done.
Answer = Callable[[str], str]

#: The link in the host's folder from which the guest takes the answer: what it leads to does not exist.
LINK = "answer"

#: The longest question.
_LONGEST = 4096


@contextlib.contextmanager
def given(answer: Answer | None, folder: Path) -> Iterator[tuple[Mapping[str, str], tuple[int, ...]]]:
    """The environment of a kernel whose guest may ask, and the files that it inherits; none without answers.

    Raises:
        Exception: what ``answer`` raised, if it did.
    """
    if answer is None:
        yield {}, ()
        return
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    failed: list[Exception] = []
    thread = threading.Thread(target=_serve, args=(here, answer, failed), daemon=True)
    (folder / LINK).symlink_to("none")
    thread.start()
    try:
        with there:
            yield {"SOJOURN_ANSWERS": str(there.fileno())}, (there.fileno(),)
    finally:
        here.shutdown(socket.SHUT_RDWR)
        thread.join()
        here.close()
        if failed:
            raise failed[0]


def _serve(asked: socket.socket, answer: Answer, failed: list[Exception]) -> None:
    with contextlib.suppress(OSError):
        while question := asked.recv(_LONGEST):
            try:
                asked.send(answer(question.decode()).encode())
            except ValueError as error:
                failed.append(error)
                asked.shutdown(socket.SHUT_RDWR)
