"""Writes the packets of a host's port 443 into a file in pcap format, each as it is on the line: trace.py FILE."""

import socket
import struct
import sys
import time
from pathlib import Path

PORT = 443

#: All protocols, and where a socket's packets have a virtio header (linux/if_ether.h, linux/if_packet.h, linux/socket.h).
ETH_P_ALL, SOL_PACKET, PACKET_VNET_HDR = 3, 263, 15

#: flags, kind, length of headers, size of segments, and two of the checksum (linux/virtio_net.h).
VIRTIO = struct.Struct("<BBHHHH")

#: Ethernet's header, before IP's.
ETHERNET = 14

#: Packets that begin with IP's header (tcpdump.org/linktypes.html).
LINKTYPE_RAW = 101

UDP, UDP_HEADER = 17, 8


def segments(packet: bytes, size: int) -> list[bytes]:
    """The datagrams of a packet that the kernel cuts only further down, or has merged."""
    start = 4 * (packet[0] & 15) + UDP_HEADER
    if size == 0 or len(packet) - start <= size:
        return [packet]
    cut = []
    for place in range(start, len(packet), size):
        payload = packet[place : place + size]
        head = bytearray(packet[:start])
        struct.pack_into(">H", head, 2, start + len(payload))
        struct.pack_into(">H", head, start - UDP_HEADER + 4, UDP_HEADER + len(payload))
        cut.append(bytes(head) + payload)
    return cut


def is_quic(packet: bytes) -> bool:
    """Whether it is one of UDP over IPv4 from or to the port."""
    if len(packet) < 28 or packet[0] >> 4 != 4 or packet[9] != UDP:
        return False
    return PORT in struct.unpack_from(">HH", packet, 4 * (packet[0] & 15))


def link() -> str:
    """The device of the host's routes."""
    return Path("/proc/net/route").read_text().splitlines()[1].split()[0]


def main(path: str) -> None:
    """Goes on until it is ended."""
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.bind((link(), ETH_P_ALL))
    tap.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    with Path(path).open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 16, LINKTYPE_RAW))
        while True:
            content = tap.recv(1 << 17)
            now = time.time_ns()
            size = VIRTIO.unpack_from(content)[3]
            packet = content[VIRTIO.size + ETHERNET :]
            if is_quic(packet):
                for each in segments(packet, size):
                    file.write(struct.pack("<IIII", now // 10**9, now % 10**9, len(each), len(each)) + each)
                file.flush()


main(sys.argv[1])
