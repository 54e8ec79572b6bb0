"""What programs may use of the kernel: protocols, offloads, terminals, and what wakes a program that waits."""

import pytest

from sojourn import programs
from sojourn.linux import cache, guest
from sojourn.programs import Outcome

#: Kernels that run programs, whose guest is of this version of Sojourn.
KERNELS = [kernel for kernel in cache.kernels() if kernel.program == guest.program_digest() and kernel.has_seccomp]

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(not KERNELS, reason="no Linux from 6.16 on is built by this version; `sojourn linux build` makes one"),
]

#: What Python has not named in all its versions (linux/in.h).
IPPROTO_MPTCP = 262

#: A server that takes what a client sends and says how much that was; what comes before and after is the test's.
SERVER = """
import socket
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, {protocol})
listener.bind(("", 9))
listener.listen()
connection, _ = listener.accept()
{prepared}
received = b""
while content := connection.recv(65536):
    received += content
print(len(received), received == bytes(range(256)) * 1000)
{afterwards}
"""

CLIENT = """
import socket, time
connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, {protocol})
connection.connect(("server", 9))
{prepared}
connection.sendall(bytes(range(256)) * 1000)
connection.shutdown(socket.SHUT_WR)
time.sleep(1)
{afterwards}
"""


def newest() -> cache.Kernel:
    """The newest kernel."""
    return max(KERNELS, key=lambda kernel: kernel.numbers)


def between(server: str, client: str) -> Outcome:
    """What comes of two programs in Python, the client's later by 0.1 s, on a line of 10 Mbit/s with 10 ms each way."""
    line = programs.network(rate="10 Mbit/s", delay="10 ms", queue="fq_codel")
    later = {"run": ["python3", "-c", client], "start": "100 ms"}
    return line.run(server={"run": ["python3", "-c", server]}, client=later, duration="4 s", backend=f"linux:{newest().name}")


def transferred(prepared: tuple[str, str], afterwards: str, protocol: int = 0) -> tuple[list[str], list[str]]:
    """What a server and a client of TCP print after a transfer, which must have been whole."""
    server, client = (
        text.format(protocol=protocol, prepared=own, afterwards=afterwards)
        for text, own in zip((SERVER, CLIENT), prepared, strict=True)
    )
    outcome = between(server, client)
    first, *told = outcome["server"].output.splitlines()
    assert first == "256000 True"
    return told, outcome["client"].output.splitlines()


def test_mptcp() -> None:
    """Sockets of IPPROTO_MPTCP speak it, rather than to fall back: the server answered MP_CAPABLE (RFC 8684, section 3.1)."""
    count = """
lines = [line.split() for line in open("/proc/net/netstat") if line.startswith("MPTcpExt:")]
print(dict(zip(*lines))["{}"])
"""
    _, told = transferred(("", ""), count.format("MPCapableSYNACKRX"), IPPROTO_MPTCP)
    assert told == ["1"]


def test_tls_of_the_kernel() -> None:
    """What is written to a socket with TLS's keys is encrypted by one kernel and decrypted by the other (tls.rst)."""
    # SOL_TLS, TLS_TX and TLS_RX, and keys of TLS 1.2 with AES-128-GCM (linux/tls.h).
    keys = """
import struct
connection.setsockopt(socket.IPPROTO_TCP, 31, b"tls")
connection.setsockopt(282, {}, struct.pack("=HH8s16s4s8s", 0x0303, 51, b"i" * 8, b"k" * 16, b"s" * 4, bytes(8)))
"""
    counted = 'print(*(int(line.split()[1]) for line in open("/proc/net/tls_stat") if line.startswith(("TlsTxSw", "TlsRxSw"))))'
    server, client = transferred((keys.format(2), keys.format(1)), counted)
    assert (server, client) == (["0 1"], ["1 0"])


@pytest.mark.parametrize(("setting", "mode"), [("1", 1), ("3", 2)])
def test_accurate_ecn(setting: str, mode: int) -> None:
    """A program's sysctl decides which ECN is negotiated: RFC 3168's, or the accurate one, as tcp_info says (linux/tcp.h)."""
    if mode == 2 and newest().numbers < (7,):
        pytest.skip("Linux has accurate ECN from 7.0 on")
    chosen = f'open("/proc/sys/net/ipv4/tcp_ecn", "w").write("{setting}")\n'
    # The two bits of tcpi_ecn_mode are in byte 276.
    told = "print(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 280)[276] & 3)"
    server, client = (text.format(protocol=0, prepared="", afterwards=told) for text in (SERVER, CLIENT))
    outcome = between(chosen + server, chosen + client)
    assert [outcome[end].output.split()[-1] for end in ("server", "client")] == [str(mode)] * 2


def test_datagrams_are_cut_by_the_kernel() -> None:
    """One call with UDP_SEGMENT (udp(7)) is as many packets in the queue as datagrams at the other end, with UDP_GRO too."""
    server = """
import socket, time
time.sleep(0.5)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.IPPROTO_UDP, 103, 1200)
sender.sendto(bytes(11900), ("client", 9))
"""
    client = """
import socket
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", 9))
receiver.setsockopt(socket.IPPROTO_UDP, 104, 1)
print([len(receiver.recv(65536)) for _ in range(10)])
"""
    outcome = between(server, client)
    assert outcome["client"].output == f"{[1200] * 9 + [1100]}\n"
    assert outcome.flows["total_bytes_delivered"].to_list() == [11900]
    assert outcome.queues["arrivals"].to_list() == [10]


def test_a_packets_own_time_is_not_waited_for() -> None:
    """SO_TXTIME is accepted, and a packet that is due in half a second leaves at once: only `fq` and `etf` would hold it."""
    server = """
import socket, time
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", 9))
sent = float(receiver.recv(100))
print(time.monotonic() - sent)
"""
    client = """
import socket, struct, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect(("server", 9))
sender.setsockopt(socket.SOL_SOCKET, 61, struct.pack("=iI", time.CLOCK_MONOTONIC, 0))
due = struct.pack("=Q", time.monotonic_ns() + 500_000_000)
sender.sendmsg([str(time.monotonic()).encode()], [(socket.SOL_SOCKET, 61, due)])
"""
    assert float(between(server, client)["server"].output) == pytest.approx(0.01, abs=0.001)


def test_what_wakes_a_program() -> None:
    """epoll tells of an eventfd that a thread has written, and of a timerfd, at their times; a sleep takes as long as it says."""
    waiting = """
import ctypes, os, select, struct, threading, time
begun = time.monotonic()
timer = ctypes.CDLL(None).timerfd_create(time.CLOCK_MONOTONIC, 0)
ctypes.CDLL(None).timerfd_settime(timer, 0, struct.pack("=4q", 0, 0, 1, 500_000_000), None)
event = os.eventfd(0)
threading.Timer(1, os.eventfd_write, (event, 7)).start()
poll = select.epoll()
for each in (timer, event):
    poll.register(each, select.EPOLLIN)
for _ in range(2):
    [(found, _)] = poll.poll()
    print("timer" if found == timer else "event", os.read(found, 8)[0], f"{time.monotonic() - begun:.2f}")
"""
    assert between("pass", waiting)["client"].output == "event 7 1.00\ntimer 1 1.50\n"


def test_terminals() -> None:
    """A program may open a terminal and have another run on it, as script(1), ssh and tmux do."""
    opened = """
import os, pty
child, terminal = pty.fork()
if child == 0:
    os.execvp("tty", ["tty"])
print(os.read(terminal, 100).decode().strip(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert between("pass", opened)["client"].output == "/dev/pts/0 0\n"
