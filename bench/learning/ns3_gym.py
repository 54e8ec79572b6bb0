"""Compares the environment with ns3-gym: steps for each CPU second, at equal packets a step.

    apt install libns3-dev libzmq3-dev cppzmq-dev libprotobuf-dev protobuf-compiler g++
    git clone --branch app-ns-3.36+ https://github.com/tkn-tub/ns3-gym && git -C ns3-gym checkout 840738e
    pip install "sojourn[learning]" pyzmq protobuf
    python bench/learning/ns3_gym.py ns3-gym

Both have one flow of TCP over the same dumbbell, and an agent that sets the same window. In ns3-gym that is its example
``rl-tcp``, asked at each interval (``TcpRlTimeBased``) or, with ``--acks``, at each acknowledgement (``TcpRl``). The window is a
little more than the path holds, so that nothing is lost and a step has the packets that the link carries in an interval. CPU time
is that of Python and of ns-3's process, from its start on. Each is measured in turn, and medians are printed. ns3-gym has no
vector of environments. Sojourn's of 64 has a line of its own.

The example is compiled as it is, against Debian's ns-3.37, which has logging compiled in. ``--program`` names one that was built
otherwise, such as by ns-3's own build: ns3-gym as ``contrib/opengym`` and ``./ns3 configure -d optimized --enable-examples``.

Nothing of ns-3 or ns3-gym, which are under the GPL, is kept here. The Python part of ns3-gym wants the package ``gym`` and names
that NumPy no longer has: Gymnasium, ``int`` and ``float`` are given to it by these names.
"""

import argparse
import contextlib
import io
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import gymnasium.utils.seeding
import numpy as np

from sojourn.environment import Bottleneck, BottleneckVector

#: The path: 20 Mbit/s, and 40 ms there and back.
RATE, BOTTLENECK_DELAY, ACCESS_RATE, ACCESS_DELAY = "20 Mbit/s", "10 ms", "1 Gbit/s", "5 ms"

#: Payload of a segment in bytes; ``rl-tcp`` takes 60 off its ``--mtu``.
SEGMENT = 1448

#: The window in segments; the path holds 67.
WINDOW = 70

#: Features that the observation of ``rl-tcp`` has, too.
OBSERVED = ["ssthresh", "cwnd", "mss", "in_flight", "acknowledged", "rtt_mean", "base_rtt", "delivery_rate"]

#: Where the observation of ``rl-tcp`` has the segments acknowledged: asked at intervals, and at acknowledgements.
ACKNOWLEDGED = {"TcpRlTimeBased": 9, "TcpRl": 7}

#: Environments of the vector.
TOGETHER = 64

#: The libraries that ``rl-tcp`` needs.
LIBRARIES = [
    *[f"ns3-{module}" for module in ("core", "network", "internet", "point-to-point", "point-to-point-layout")],
    *[f"ns3-{module}" for module in ("traffic-control", "applications", "flow-monitor")],
    *["zmq", "protobuf"],
]


def built(source: Path, folder: Path) -> Path:
    """Compiles ``rl-tcp`` of a clone of ns3-gym."""
    headers = folder / "ns3"
    headers.mkdir()
    parts = [*source.glob("model/*.h"), *source.glob("helper/*.h")]
    for header in parts:
        (headers / header.name).symlink_to(header.resolve())
    (headers / "opengym-module.h").write_text("".join(f'#include "{header.name}"\n' for header in parts))
    example = source / "examples" / "rl-tcp"
    sources = [*source.glob("model/*.cc"), *source.glob("helper/*.cc"), *example.glob("*.cc"), folder / "messages.pb.cc"]
    program = folder / "rl-tcp"
    include = [f"-I{path}" for path in (folder, source / "model", example)]
    linked = [f"-l{library}" for library in LIBRARIES]
    subprocess.run(["g++", "-std=c++17", "-O3", *include, *map(str, sources), "-o", str(program), *linked], check=True)
    return program


def theirs(ns3env: Any, program: Path, steps: int, protocol: str, interval: float) -> tuple[float, float]:
    """Packets and CPU seconds of so many steps of ns3-gym."""
    bridge = 5577
    options = {
        "openGymPort": bridge,
        "transport_prot": protocol,
        "envTimeStep": interval,
        "duration": 100_000,
        "bottleneck_bandwidth": RATE.replace(" Mbit/s", "Mbps"),
        "bottleneck_delay": BOTTLENECK_DELAY.replace(" ", ""),
        "access_bandwidth": ACCESS_RATE.replace(" Gbit/s", "Gbps"),
        "access_delay": ACCESS_DELAY.replace(" ", ""),
        "mtu": SEGMENT + 60,
    }
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(program), *[f"--{name}={value}" for name, value in options.items()]]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        began = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            environment = ns3env.Ns3Env(port=bridge, startSim=False)
        environment.reset()
        packets = 0.0
        for _ in range(steps):
            observation, *_ = environment.step([2**31, WINDOW * SEGMENT])
            packets += float(observation[ACKNOWLEDGED[protocol]])
        seconds = time.process_time() - began
        environment.ns3ZmqBridge.socket.close()  # the next turn has the same port
        process.kill()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return packets, seconds + after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime


def scenario(interval: str) -> dict[str, Any]:
    """The same in Sojourn."""
    access = {"rate": ACCESS_RATE, "delay": ACCESS_DELAY}
    agent = {"agent": True, "interval": interval, "observe": OBSERVED, "history": 1, "action": "window"}
    return {
        "name": "the dumbbell of rl-tcp",
        "duration": "100000 s",
        "stack": "linux-6",
        "network": {
            "dumbbell": {
                "senders": [{"name": "sender", **access}],
                "receivers": [{"name": "receiver", **access}],
                "bottleneck": {
                    "rate": RATE,
                    "delay": BOTTLENECK_DELAY,
                    "queue": {"name": "droptail", "limit": "100 packets"},
                },
            }
        },
        "flows": [{"from": "sender", "to": "receiver", "tcp": agent}],
    }


def ours(steps: int, interval: str) -> tuple[float, float]:
    """The same of Sojourn."""
    environment = Bottleneck(scenario(interval))
    action = np.array([WINDOW], dtype=np.float64)
    began, bits = time.process_time(), 0.0
    environment.reset(seed=1)
    for _ in range(steps):
        *_, info = environment.step(action)
        bits += info["terms"]["throughput"] * info["terms"]["seconds"]
    return bits / 8 / SEGMENT, time.process_time() - began


def together(steps: int, interval: str) -> tuple[float, float]:
    """The same of a vector, on one thread, each of whose environments makes so many steps."""
    environments = BottleneckVector(scenario(interval), TOGETHER, threads=1)
    actions = np.full((TOGETHER, 1), WINDOW, dtype=np.float64)
    began, bits = time.process_time(), 0.0
    environments.reset(seed=1)
    for _ in range(steps):
        *_, infos = environments.step(actions)
        bits += float((infos["throughput"] * infos["seconds"]).sum())
    return bits / 8 / SEGMENT, time.process_time() - began


def imported(source: Path, folder: Path) -> Any:
    """The Python part of ns3-gym, with what it wants."""
    aliases: Any = np
    aliases.int, aliases.float = int, float
    sys.modules |= {"gym": gymnasium, "gym.utils": gymnasium.utils}
    sys.path[:0] = [str(source / "model" / "ns3gym"), str(folder)]
    with warnings.catch_warnings():  # it registers Gymnasium's environments by their old name, too
        warnings.simplefilter("ignore")
        import messages_pb2  # type: ignore[import-not-found]

        sys.modules["ns3gym.messages_pb2"] = messages_pb2
        import ns3gym  # type: ignore[import-not-found]

        ns3gym.messages_pb2 = messages_pb2
        from ns3gym import ns3env
    return ns3env


def main() -> None:
    """Reads the command line, and prints a line for each, and the ratios."""
    parser = argparse.ArgumentParser(description="Compare the environment with ns3-gym.")
    parser.add_argument("source", type=Path, help="a clone of https://github.com/tkn-tub/ns3-gym, branch app-ns-3.36+")
    parser.add_argument("--steps", type=int, default=500, help="how many in a turn (default: 500)")
    parser.add_argument("--turns", type=int, default=5, help="how often each is measured, in turn; medians count (default: 5)")
    parser.add_argument("--interval", type=float, default=40, metavar="MS", help="time between questions (default: 40, one RTT)")
    parser.add_argument("--acks", action="store_true", help="ask at each acknowledgement instead")
    parser.add_argument("--program", type=Path, help="rl-tcp as another build of ns-3 has it (default: compiled for Debian's)")
    given = parser.parse_args()
    if not (given.source / "examples" / "rl-tcp").is_dir():
        parser.error(f"{given.source}: is no clone of ns3-gym's branch app-ns-3.36+ (examples/rl-tcp is missing)")
    missing = [command for command in ("protoc", "g++") if shutil.which(command) is None]
    if missing:
        parser.error(f"{' and '.join(missing)}: not found; the head of this file says what to install")
    interval, protocol = ("1 acks", "TcpRl") if given.acks else (f"{given.interval:g} ms", "TcpRlTimeBased")
    with tempfile.TemporaryDirectory() as directory:
        folder, model = Path(directory), given.source / "model"
        languages = [f"--{language}_out={folder}" for language in ("cpp", "python")]
        subprocess.run(["protoc", f"-I{model}", *languages, str(model / "messages.proto")], check=True)
        program = given.program or built(given.source, folder)
        # One that does not start would be waited for without end.
        if shutil.which(program) is None or subprocess.run([program, "--help"], stdout=subprocess.DEVNULL).returncode:
            parser.error(f"{program}: does not start")
        ns3env = imported(given.source, folder)
        found: dict[str, list[tuple[float, float]]] = {}
        for _ in range(given.turns):
            for name, steps, (packets, seconds) in (
                ("ns3-gym", given.steps, theirs(ns3env, program, given.steps, protocol, given.interval / 1e3)),
                ("Sojourn", given.steps, ours(given.steps, interval)),
                (f"Sojourn, a vector of {TOGETHER}", given.steps * TOGETHER, together(given.steps, interval)),
            ):
                found.setdefault(name, []).append((packets / steps, steps / seconds))
    base = statistics.median(speed for _, speed in found["ns3-gym"])
    for name, measured in found.items():
        packets, speed = (statistics.median(each) for each in zip(*measured, strict=True))
        print(f"{name}: {packets:.1f} packets a step, {speed:,.0f} steps for each CPU second, ratio {speed / base:.1f}")


if __name__ == "__main__":
    main()
