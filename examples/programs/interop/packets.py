"""QUIC's packets in a trace: what their headers say in the clear, and the client's first flight, whose keys are no secret."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

PORT = 443

#: Kinds of packets with long headers, by the two bits of their first byte: RFC 9000, section 17.2, and RFC 9369, section 3.2.
KINDS = {
    0x00000001: ("initial", "zero", "handshake", "retry"),
    0x6B3343CF: ("retry", "initial", "zero", "handshake"),
}

#: RFC 9001, section 5.2.
SALT = bytes.fromhex("38762cf7f55934b34d179ae6a4c80cadccbb7f0a")


@dataclass(frozen=True)
class Packet:
    """A packet.

    Attributes:
        time: when it was seen, in s.
        is_clients: whether the client has sent it.
        datagram: size of the datagram in which it came, and whether it was its first packet.
        kind: of KINDS, or "short".
        payload: size of what follows the header, packet number included.
        number_at: where the packet number begins in its bytes.
    """

    time: float
    is_clients: bool
    datagram: int
    is_first: bool
    kind: str
    version: int
    destination: bytes
    source: bytes
    token: bytes
    payload: int
    number_at: int
    content: bytes


def integer(content: bytes, place: int) -> tuple[int, int]:
    """An integer of variable length and where it ends (RFC 9000, section 16)."""
    length = 1 << (content[place] >> 6)
    value = int.from_bytes(content[place : place + length]) & ((1 << (8 * length - 2)) - 1)
    return value, place + length


def read(trace: Path) -> Iterator[Packet]:
    """The packets of a trace, in order."""
    content, place = trace.read_bytes(), 24
    while place + 16 <= len(content):
        seconds, fraction, length, _ = struct.unpack_from("<IIII", content, place)
        packet = content[place + 16 : place + 16 + length]
        place += 16 + length
        udp = 4 * (packet[0] & 15)
        yield from split(packet[udp + 8 :], seconds + fraction / 1e9, struct.unpack_from(">H", packet, udp + 2)[0] == PORT)


def split(datagram: bytes, time: float, is_clients: bool) -> Iterator[Packet]:
    """The packets of a datagram."""
    place = 0
    while place < len(datagram):
        content = datagram[place:]
        if not content[0] & 0x80:
            # Without the fixed bit it is no packet (RFC 9000, section 17.3.1), but padding behind one with a long header.
            if content[0] & 0x40:
                yield Packet(time, is_clients, len(datagram), place == 0, "short", 0, b"", b"", b"", len(content) - 1, 1, content)
            return
        version = int.from_bytes(content[1:5])
        after = 6 + content[5]
        destination, source = content[6:after], content[after + 1 : after + 1 + content[after]]
        after += 1 + content[after]
        if version not in KINDS:
            return
        kind = KINDS[version][content[0] >> 4 & 3]
        token = b""
        if kind == "retry":
            token, payload, number_at, end = content[after:-16], 0, after, len(content)
        else:
            if kind == "initial":
                size, after = integer(content, after)
                token, after = content[after : after + size], after + size
            payload, number_at = integer(content, after)
            end = number_at + payload
        whole = content[:end]
        yield Packet(
            time, is_clients, len(datagram), place == 0, kind, version, destination, source, token, payload, number_at, whole
        )
        place += end


def expanded(secret: bytes, label: str, length: int) -> bytes:
    """HKDF-Expand-Label of TLS 1.3 without a context (RFC 8446, section 7.1), of the hash that the secret is as long as."""
    name = b"tls13 " + label.encode()
    digest = hashes.SHA384() if len(secret) == 48 else hashes.SHA256()
    found: bytes = HKDFExpand(digest, length, struct.pack(">HB", length, len(name)) + name + b"\0").derive(secret)
    return found


def unmasked(packet: Packet, key: bytes, number_at: int, bits: int) -> tuple[int, bytes]:
    """A packet's first byte and four from where its number begins, without AES's header protection (RFC 9001, section 5.4)."""
    sample = packet.content[number_at + 4 : number_at + 20]
    mask = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(sample)
    number = packet.content[number_at : number_at + 4]
    return packet.content[0] ^ (mask[0] & bits), bytes(one ^ other for one, other in zip(number, mask[1:], strict=False))


def key_phase(packet: Packet, secret: bytes, connection_id: int) -> int:
    """The key phase of a packet with a short header, whose keys are AES's and whose connection ID has so many bytes.

    Its header's protection stays when keys are updated (RFC 9001, section 6).
    """
    key = expanded(secret, "quic hp", 32 if len(secret) == 48 else 16)
    return unmasked(packet, key, 1 + connection_id, 0x1F)[0] >> 2 & 1


def handshake_of(packet: Packet) -> list[tuple[int, bytes]]:
    """Pieces of the TLS handshake, with their offsets, in an Initial packet of a client's first flight (RFC 9001, section 5)."""
    extract = HMAC(SALT, hashes.SHA256())
    extract.update(packet.destination)
    secret = expanded(extract.finalize(), "client in", 32)
    key, vector, mask_key = (expanded(secret, f"quic {name}", size) for name, size in (("key", 16), ("iv", 12), ("hp", 16)))
    at = packet.number_at
    first, number = unmasked(packet, mask_key, at, 0x0F)
    length = (first & 3) + 1
    number, head = number[:length], bytes([first]) + packet.content[1:at]
    nonce = bytes(one ^ other for one, other in zip(vector, number.rjust(12, b"\0"), strict=True))
    try:
        return list(pieces(AESGCM(key).decrypt(nonce, packet.content[at + length :], head + number)))
    except InvalidTag:
        return []


def pieces(payload: bytes) -> Iterator[tuple[int, bytes]]:
    """What CRYPTO frames have; other frames of Initial packets are passed over (RFC 9000, section 19)."""
    place = 0
    while place < len(payload):
        kind, place = payload[place], place + 1
        if kind == 6:
            offset, place = integer(payload, place)
            length, place = integer(payload, place)
            yield offset, payload[place : place + length]
            place += length
        elif kind == 2:
            for _ in range(2):
                _, place = integer(payload, place)
            ranges, place = integer(payload, place)
            for _ in range(1 + 2 * ranges):
                _, place = integer(payload, place)
        elif kind not in (0, 1):
            return
