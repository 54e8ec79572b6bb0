"""One way of a voice call by RTP (RFC 3550), with G.711: call.py speak HOST PACKETS, call.py listen PACKETS.

The listener prints, as JSON, what was lost, what came too late for its playout buffer, delays, and RFC 3550's jitter.
"""

import json
import socket
import struct
import sys
import time

PORT = 5004

#: G.711 takes 8000 samples of a byte a second; a packet has 20 ms (RFC 3551, sections 4.2 and 4.5.14), and payload type 0.
CLOCK, SAMPLES, PCMU = 8000, 160, 0

#: The first packet is played so long after it came, in s, and each other one at its time after that.
PLAYOUT = 0.06

#: The listener ends if nothing comes for so long, in s; the first packet may come later.
SILENCE = 5.0

HEADER = struct.Struct(">BBHII")

#: The time at which a packet was sent, in its payload.
SENT = struct.Struct(">d")


def speak(host: str, packets: int) -> None:
    """Sends so many packets."""
    speaker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    begun = time.monotonic()
    for number in range(packets):
        time.sleep(max(0.0, begun + number * SAMPLES / CLOCK - time.monotonic()))
        payload = SENT.pack(time.time()).ljust(SAMPLES, b"\xff")
        speaker.sendto(HEADER.pack(2 << 6, PCMU, number & 0xFFFF, number * SAMPLES, 1) + payload, (host, PORT))


def listen(packets: int) -> dict[str, float]:
    """Takes packets until the last one, or until nothing comes."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("", PORT))
    delays: dict[int, float] = {}
    jitter, last, first, late = 0.0, 0.0, 0.0, 0
    while packets - 1 not in delays:
        try:
            packet = listener.recv(2048)
        except TimeoutError:
            break
        now = time.time()
        number = HEADER.unpack_from(packet)[2]
        delays[number] = delay = now - SENT.unpack_from(packet, HEADER.size)[0]
        if len(delays) == 1:
            listener.settimeout(SILENCE)
            first, last = now - number * SAMPLES / CLOCK, delay
        jitter += (abs(delay - last) - jitter) / 16  # RFC 3550, section 6.4.1
        last = delay
        late += now > first + PLAYOUT + number * SAMPLES / CLOCK
    found = sorted(delays.values())
    return {
        "packets": packets,
        "lost": packets - len(delays),
        "late": late,
        "mean_delay_ms": sum(found) / len(found) * 1000,
        "p95_delay_ms": found[len(found) * 95 // 100] * 1000,
        "jitter_ms": jitter * 1000,
    }


if sys.argv[1] == "speak":
    speak(sys.argv[2], int(sys.argv[3]))
else:
    print(json.dumps(listen(int(sys.argv[2]))))
