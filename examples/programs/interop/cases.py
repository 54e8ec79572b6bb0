"""Test cases of the QUIC interop runner: what is asked for, and what endpoints are told.

Numbers are those of github.com/quic-interop/quic-interop-runner, testcases_quic.py, as of commit 1d6f655.
"""

from dataclasses import dataclass

KB, MB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Case:
    """A test case.

    Attributes:
        told: what endpoints have as TESTCASE, by their role.
        sizes: of the files that are requested.
        handshakes: how many the client has to make.
        timeout: what it may take, in s.
        names: length of the files' names.
        chain: certificates from the server's up to the root, which is not sent.
        measured: whether goodput is what it is about.
    """

    told: tuple[str, str]
    sizes: tuple[int, ...]
    handshakes: int = 1
    timeout: int = 60
    names: int = 12
    chain: int = 1
    measured: bool = False


def _of(testcase: str, *sizes: int) -> Case:
    return Case((testcase, testcase), sizes)


CASES = {
    "handshake": _of("handshake", 1 * KB),
    "transfer": _of("transfer", 2 * MB, 3 * MB, 5 * MB),
    "longrtt": _of("handshake", 1 * KB),
    "chacha20": _of("chacha20", 3 * MB),
    "multiplexing": _of("transfer", *[32] * 1999),
    "retry": _of("retry", 10 * KB),
    "resumption": Case(("resumption", "resumption"), (5 * KB, 10 * KB), handshakes=2),
    "zerortt": Case(("zerortt", "zerortt"), (32,) * 40, handshakes=2, names=250),
    "http3": _of("http3", 5 * KB, 10 * KB, 500 * KB),
    "blackhole": _of("transfer", 10 * MB),
    "keyupdate": Case(("keyupdate", "transfer"), (3 * MB,)),
    "ecn": _of("ecn", 100 * KB),
    "amplificationlimit": Case(("transfer", "transfer"), (5 * KB,), chain=9),
    "handshakeloss": Case(("multiconnect", "multiconnect"), (1 * KB,) * 50, handshakes=50, timeout=300),
    "transferloss": _of("transfer", 2 * MB),
    "v2": _of("v2", 1 * KB),
    "goodput": Case(("transfer", "transfer"), (10 * MB,), measured=True),
    # The runner's limit is 180 s, but the run ends before.
    "crosstraffic": Case(("transfer", "transfer"), (25 * MB,), measured=True),
}
