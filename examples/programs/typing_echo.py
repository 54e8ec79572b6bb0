"""Types letters into a command in a terminal of its own: typing_echo.py COMMAND... Prints the times of their echoes as JSON."""

import json
import os
import pty
import select
import sys
import time
import tty

LETTERS = 60

#: From letter to letter, in s: someone who types fast.
PAUSE = 0.2

#: The remote terminal echoes this, too, when it is ready: a command that is not there yet would lose what is typed.
READY = b"~"


def read(terminal: int, longest: float) -> bytes:
    """What comes within a time; nothing if nothing does."""
    return os.read(terminal, 4096) if select.select([terminal], [], [], longest)[0] else b""


def echo_times(terminal: int) -> list[float]:
    """The time in s from each letter to its echo."""
    typed: dict[str, float] = {}
    times: list[float] = []
    for number in range(LETTERS):
        letter = chr(ord("a") + number % 26)
        typed[letter] = time.monotonic()
        os.write(terminal, letter.encode())
        until = time.monotonic() + PAUSE
        while (left := until - time.monotonic()) > 0 or (number == LETTERS - 1 and typed):
            echoes = read(terminal, max(left, 0.001))
            now = time.monotonic()
            times += [now - typed.pop(echo) for echo in map(chr, echoes) if echo in typed]
    return times


process, terminal = pty.fork()
if process == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
tty.setraw(terminal)
seen = b""
while READY not in seen:
    os.write(terminal, READY)
    seen += read(terminal, 1.0)
times = sorted(echo_times(terminal))
os.close(terminal)
os.waitpid(process, 0)
print(json.dumps({"letters": len(times), "median_ms": times[len(times) // 2] * 1000, "most_ms": times[-1] * 1000}))
