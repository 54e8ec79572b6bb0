"""What the interop runner checks after a test case, as far as headers, the first flight and logs tell it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from .cases import CASES, Case
from .packets import Packet, handshake_of, key_phase, read

V1, V2 = 0x00000001, 0x6B3343CF

#: TLS_CHACHA20_POLY1305_SHA256 (RFC 8446, appendix B.4).
CHACHA20 = 0x1303


class Failed(Exception):
    """Why a test case has failed."""


def files(www: Path, downloads: Path) -> None:
    """All files have come, as they were, and no others."""
    asked, found = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in (www, downloads))
    if asked.keys() != found.keys():
        raise Failed(f"{len(asked.keys() - found.keys())} files are missing, {len(found.keys() - asked.keys())} are too many")
    if asked != found:
        raise Failed("the content of a file is another")


def handshakes(packets: list[Packet]) -> list[bytes]:
    """The connection IDs that a server has chosen in Initial packets, in order: one a handshake."""
    return list(dict.fromkeys(packet.source for packet in packets if packet.kind == "initial" and not packet.is_clients))


def first_flight(packets: list[Packet]) -> Iterator[list[tuple[int, bytes]]]:
    """Pieces of the ClientHello that each of the client's Initial packets has which still goes to no ID of the server's."""
    chosen = set(handshakes(packets))
    for packet in packets:
        if packet.kind == "initial" and packet.is_clients and packet.destination not in chosen:
            yield handshake_of(packet)


def no_retry(server: list[Packet], _: list[Packet]) -> None:
    """The server sends no Retry where the case has none."""
    if any(packet.kind == "retry" for packet in server):
        raise Failed("a Retry was sent")


def retried(_: list[Packet], client: list[Packet]) -> None:
    """The server sends a Retry, and the client begins anew with its token."""
    tokens = {packet.token for packet in client if packet.kind == "retry"}
    if not tokens:
        raise Failed("no Retry was sent")
    if not any(packet.is_clients and packet.kind == "initial" and packet.token in tokens for packet in client):
        raise Failed("no Initial packet has a Retry's token")


def hello_repeated(_: list[Packet], client: list[Packet]) -> None:
    """On a long path the ClientHello is sent again before an answer comes."""
    if sum(offset == 0 for pieces in first_flight(client) for offset, _ in pieces) < 2:
        raise Failed("the ClientHello was sent once")


def only_chacha(_: list[Packet], client: list[Packet]) -> None:
    """The ClientHello is a type, a length, a version, a random number, a session ID and then suites (RFC 8446, section 4.1.2)."""
    hello = bytearray(1 << 14)
    for pieces in first_flight(client):
        for offset, piece in pieces:
            hello[offset : offset + len(piece)] = piece
    start = 4 + 2 + 32 + 1 + hello[38]
    length = int.from_bytes(hello[start : start + 2])
    offered = {int.from_bytes(hello[at : at + 2]) for at in range(start + 2, start + 2 + length, 2)}
    if offered != {CHACHA20}:
        raise Failed(f"offered are {', '.join(f'{suite:#06x}' for suite in sorted(offered))}")


def bytes_of(packets: list[Packet], kind: str, *, is_clients: bool) -> int:
    """Bytes in packets of a kind that one end has sent."""
    return sum(packet.payload for packet in packets if packet.kind == kind and packet.is_clients == is_clients)


def resumed(server: list[Packet], _: list[Packet]) -> None:
    """The runner looks for a Certificate. Without one the second handshake is shorter than the certificate alone."""
    first, second = (
        sum(packet.payload for packet in server if packet.kind == "handshake" and packet.source == chosen)
        for chosen in handshakes(server)
    )
    if 2 * second > first:
        raise Failed(f"the second handshake has {second} bytes of the server's, the first {first}")


def early(_: list[Packet], client: list[Packet]) -> None:
    """Requests are sent in 0-RTT, and at most half as much as they have in 1-RTT."""
    if bytes_of(client, "zero", is_clients=True) == 0:
        raise Failed("nothing was sent in 0-RTT")
    late, case = bytes_of(client, "short", is_clients=True), CASES["zerortt"]
    if late > 0.5 * case.names * len(case.sizes):
        raise Failed(f"{late} bytes were sent in 1-RTT")


def amplification(server: list[Packet], _: list[Packet]) -> None:
    """Before the client's address is known, a server sends three times what it has received; the runner allows four."""
    if bytes_of(server, "handshake", is_clients=False) < 7500:
        raise Failed("the chain of certificates was not sent")
    allowed = 0
    for packet in (packet for packet in server if packet.is_first):
        if packet.is_clients and packet.kind == "handshake":
            return
        if packet.is_clients and packet.kind == "initial":
            allowed += 4 * packet.datagram
        elif not packet.is_clients:
            if packet.datagram >= allowed:
                raise Failed("more than four times what the client had sent")
            allowed -= packet.datagram
    raise Failed("the client sent no Handshake packet")


def few_streams(logs: Path) -> None:
    """The server allows at most 1000 streams at first, as the client's log has it."""
    found = re.findall(r'"initial_max_streams_bidi": ?(\d+)', "".join(log.read_text() for log in logs.glob("qlog/*")))
    if not found:
        raise Failed("no log has the limit of streams")
    if max(map(int, found)) > 1000:
        raise Failed("the limit of streams is above 1000")


def keys_updated(client: list[Packet], logs: Path) -> None:
    """Both ends have sent packets with their second keys. The client's log has the first secrets, in NSS's format."""
    lines = [line.split() for line in (logs / "keys.log").read_text().splitlines()]
    secrets = {label: bytes.fromhex(secret) for label, _, secret in lines}
    for is_clients, end in ((True, "CLIENT"), (False, "SERVER")):
        sent = [packet for packet in client if packet.is_clients == is_clients]
        length = next(len(packet.destination) for packet in sent if packet.kind == "handshake")
        secret = secrets[f"{end}_TRAFFIC_SECRET_0"]
        if not any(key_phase(packet, secret, length) for packet in sent if packet.kind == "short"):
            raise Failed(f"the {end.lower()} has sent nothing with its second keys")


def version_2(_: list[Packet], client: list[Packet]) -> None:
    """The client begins with version 1, and the server answers with version 2, in which the handshake goes on."""
    begun = {packet.version for packet in client if packet.kind == "initial" and packet.is_clients}
    answered = {packet.version for packet in client if packet.kind == "initial" and not packet.is_clients}
    if V1 not in begun:
        raise Failed("the client did not begin with version 1")
    if V2 not in answered or {packet.version for packet in client if packet.kind == "handshake"} != {V2}:
        raise Failed("the server did not choose version 2")


CHECKS: dict[str, Callable[[list[Packet], list[Packet]], None]] = {
    "handshake": no_retry,
    "longrtt": hello_repeated,
    "chacha20": only_chacha,
    "retry": retried,
    "resumption": resumed,
    "zerortt": early,
    "amplificationlimit": amplification,
    "v2": version_2,
}


def check(name: str, folder: Path, logs: Path) -> dict[str, object]:
    """Checks a test case whose client has ended with 0, and returns what was found.

    Raises:
        Failed: the test case has.
    """
    case: Case = CASES[name]
    server, client = (list(read(folder / f"trace-{role}.pcap")) for role in ("server", "client"))
    found = len(handshakes(server))
    files(folder / "www", folder / "downloads")
    if found != case.handshakes:
        raise Failed(f"{found} handshakes instead of {case.handshakes}")
    versions = {packet.version for packet in server if packet.kind == "initial" and not packet.is_clients}
    if name != "v2" and versions != {V1}:
        raise Failed("the server has used another version of QUIC")
    if name in CHECKS:
        CHECKS[name](server, client)
    if name == "multiplexing":
        few_streams(logs)
    if name == "keyupdate":
        keys_updated(client, logs)
    answer: dict[str, object] = {"handshakes": found}
    if case.measured:
        times = [packet.time for packet in client if packet.kind == "short" and not packet.is_clients]
        answer["kbit_s"] = 8 * sum(case.sizes) / (times[-1] - times[0]) / 1000
    return answer
