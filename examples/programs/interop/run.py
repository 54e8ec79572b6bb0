"""A test case of the QUIC interop runner: server|client STACK CASE ADDRESS. The client prints, as JSON, how it has ended.

The server makes files and certificates first. A stack is a script beside this one that does what the runner's containers do: it
finds in its environment ROLE, TESTCASE, REQUESTS and where its logs go, files in /www, /downloads and /certs, and ends with 0, or
with 127 if it has no such test case.
"""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from .cases import CASES, Case
from .certificates import chain
from .verdict import Failed, check

WWW, DOWNLOADS, CERTS, LOGS = (Path("/", name) for name in ("www", "downloads", "certs", "logs"))

#: How the server has ended, if it has.
SERVERS_STATUS = LOGS / "server" / "status"

#: Status of an endpoint that has no such test case, and of timeout(1) if the time is up.
UNSUPPORTED, LATE = 127, 124


def names(case: Case) -> list[str]:
    """The names of a case's files, which both ends find."""
    chance = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(chance.choices(letters, k=case.names)) for _ in case.sizes]


def environment(role: str, told: str) -> dict[str, str]:
    """What an endpoint is told; the folder of its logs is made."""
    logs = LOGS / role
    (logs / "qlog").mkdir(parents=True)
    return os.environ | {
        "ROLE": role,
        "TESTCASE": told,
        "QLOGDIR": str(logs / "qlog"),
        "SSLKEYLOGFILE": str(logs / "keys.log"),
    }


def serve(stack: str, case: Case) -> None:
    """Makes files and certificates and runs the server. Its status, should it end, is left for the client."""
    for folder in (WWW, DOWNLOADS, CERTS):
        folder.mkdir()
    for name, size in zip(names(case), case.sizes, strict=True):
        (WWW / name).write_bytes(random.randbytes(size))
    chain(CERTS, case.chain)
    told = environment("server", case.told[1])
    status = subprocess.run(["sh", f"interop/{stack}.sh", "server"], env=told, check=False).returncode
    SERVERS_STATUS.write_text(str(status))


def fetch(stack: str, name: str, address: str) -> dict[str, object]:
    """Runs the client, and says whether that has succeeded, or why it has not."""
    case = CASES[name]
    requests = " ".join(f"https://{address}:443/{each}" for each in names(case))
    told = environment("client", case.told[0]) | {"REQUESTS": requests}
    command = ["timeout", str(case.timeout), "sh", f"interop/{stack}.sh", "client"]
    begun = time.monotonic()
    status = subprocess.run(command, env=told, stdout=sys.stderr, check=False).returncode
    seconds = time.monotonic() - begun
    if status == UNSUPPORTED:
        return {"result": "unsupported", "why": "the client has no such test case"}
    if SERVERS_STATUS.exists() and int(SERVERS_STATUS.read_text()) == UNSUPPORTED:
        return {"result": "unsupported", "why": "the server has no such test case"}
    if status == LATE:
        return {"result": "failed", "why": f"it took longer than {case.timeout} s"}
    if status:
        return {"result": "failed", "why": f"the client ended with status {status}", "seconds": seconds}
    try:
        return {"result": "succeeded", "seconds": seconds} | check(name, Path("/"), LOGS / "client")
    except Failed as error:
        return {"result": "failed", "why": str(error), "seconds": seconds}


role, stack, name, address = sys.argv[1:]
if role == "server":
    serve(stack, CASES[name])
else:
    print(json.dumps(fetch(stack, name, address)))
