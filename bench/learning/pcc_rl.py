"""Compares the environment with that of PCC-RL: packets for each CPU second, at equal packets a step.

    git clone https://github.com/PCCproject/PCC-RL && git -C PCC-RL checkout 64bea6e
    pip install "sojourn[learning]"
    python bench/learning/pcc_rl.py PCC-RL

Both play the same conditions, which are drawn as PCC-RL draws them (src/gym/network_sim.py, SimulatedNetworkEnv): bandwidth,
latency, queue and loss, and a sender at a constant rate. PCC-RL asks at each half of a round-trip time. It has neither TCP nor a
queue discipline. Here packets are those of TCP, with acknowledgements, retransmissions and a send buffer, and a window that holds
back what is beyond the link's rate, so that at the same interval a step has fewer of them. To make them equal, each episode is
played at half a round-trip time first, which is not timed, and then at an interval that is longer by the ratio of the packets a
step.

The source of PCC-RL is under Apache-2.0. It wants the package ``gym``, of which it uses little: Gymnasium is given to it by that
name.
"""

import argparse
import contextlib
import io
import random
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import gymnasium.envs.registration
import gymnasium.utils.seeding
import numpy as np

from sojourn.environment import Bottleneck

#: Bits of a packet, as PCC-RL counts it: BYTES_PER_PACKET.
PACKET = 8 * 1500

#: Bits of payload of a segment.
SEGMENT = 8 * 1448

#: Steps of an episode: MAX_STEPS of PCC-RL.
STEPS = 400

#: Interval of PCC-RL, in round-trip times (SimulatedNetworkEnv, step: run_dur).
INTERVAL = 0.5


def conditions(seed: int) -> dict[str, float]:
    """What PCC-RL draws for an episode, from the same distributions."""
    draw = random.Random(seed)
    bandwidth = draw.uniform(100, 500)
    return {
        "bandwidth": bandwidth,  # packets a second
        "latency": draw.uniform(0.05, 0.5),  # of each of two links, in seconds
        "queue": 1 + int(np.exp(draw.uniform(0, 8))),  # packets
        "loss": draw.uniform(0.0, 0.05),  # on the way there
        "rate": draw.uniform(0.3, 1.5) * bandwidth,
    }


def theirs(network_sim: Any, drawn: Mapping[str, float], seed: int) -> tuple[int, int, float]:
    """Steps, packets and CPU seconds of an episode of PCC-RL, reset included."""
    random.seed(seed)
    with contextlib.redirect_stdout(io.StringIO()):
        environment = network_sim.SimulatedNetworkEnv()
        began = time.process_time()
        environment.reset()
        links = [network_sim.Link(drawn["bandwidth"], drawn["latency"], drawn["queue"], drawn["loss"]) for _ in range(2)]
        sender = network_sim.Sender(drawn["rate"], links, 0, environment.features)
        environment.links, environment.senders = links, [sender]
        environment.net = network_sim.Network([sender], links)
        environment.run_dur = 3 * drawn["latency"]
        packets = 0
        for _ in range(STEPS):
            environment.step([0.0])
            packets += sender.sent
    return STEPS, packets, time.process_time() - began


def scenario(drawn: Mapping[str, float], interval: float) -> dict[str, Any]:
    """The same conditions in Sojourn, asked at an interval in round-trip times."""
    rate, delay = f"{drawn['bandwidth'] * PACKET:.0f} bit/s", f"{drawn['latency'] * 1e3:.3f} ms"
    bottleneck = {"rate": rate, "delay": delay, "loss": drawn["loss"]}
    bottleneck["queue"] = {"name": "droptail", "limit": f"{drawn['queue']:.0f} packets"}
    access = {"rate": "1 Gbit/s", "delay": "0 s"}
    return {
        "name": "conditions of PCC-RL",
        "duration": "100000 s",
        "stack": "linux-6",
        "network": {
            "dumbbell": {
                "senders": [{"name": "sender", **access}],
                "receivers": [{"name": "receiver", **access}],
                "bottleneck": bottleneck,
            }
        },
        "flows": [
            {
                "from": "sender",
                "to": "receiver",
                "tcp": {
                    "agent": True,
                    "interval": f"{interval:.4f} rtt",
                    "observe": ["latency_inflation", "latency_ratio", "send_ratio"],
                    "history": 10,
                    "action": {"name": "rate", "least": "10 kbit/s", "most": "100 Mbit/s"},
                    "reward": "pcc",
                },
            }
        ],
    }


def ours(drawn: Mapping[str, float], seed: int, interval: float) -> tuple[int, float, float]:
    """The same of an episode of Sojourn: packets are segments sent."""
    environment = Bottleneck(scenario(drawn, interval))
    action = np.array([drawn["rate"] * SEGMENT])
    began = time.process_time()
    environment.reset(seed=seed)
    packets, steps, is_over = 0.0, 0, False
    while steps < STEPS and not is_over:
        _, _, terminated, truncated, info = environment.step(action)
        packets += info["terms"]["send_rate"] * info["terms"]["seconds"] / SEGMENT
        steps, is_over = steps + 1, terminated or truncated
    return steps, packets, time.process_time() - began


def main() -> None:
    """Reads the command line, and prints a line for each, and the ratio."""
    parser = argparse.ArgumentParser(description="Compare the environment with that of PCC-RL.")
    parser.add_argument("source", type=Path, help="a clone of https://github.com/PCCproject/PCC-RL")
    parser.add_argument("--episodes", type=int, default=10, help="how many (default: 10)")
    given = parser.parse_args()
    if not (given.source / "src" / "gym" / "network_sim.py").is_file():
        parser.error(f"{given.source}: is no clone of PCC-RL (src/gym/network_sim.py is missing)")
    sys.modules |= {
        "gym": gymnasium,
        "gym.utils": gymnasium.utils,
        "gym.envs.registration": gymnasium.envs.registration,
    }
    sys.argv = sys.argv[:1]  # PCC-RL reads it, too
    sys.path.insert(0, str(given.source / "src" / "gym"))
    import network_sim  # type: ignore[import-not-found]

    found: dict[str, list[float]] = {"PCC-RL": [0, 0, 0], "Sojourn": [0, 0, 0]}
    for seed in range(given.episodes):
        drawn = conditions(seed)
        other = theirs(network_sim, drawn, seed)
        tried = ours(drawn, seed, INTERVAL)
        own = ours(drawn, seed, INTERVAL * (other[1] / other[0]) / (tried[1] / tried[0]))
        for name, one in (("PCC-RL", other), ("Sojourn", own)):
            found[name] = [sum(pair) for pair in zip(found[name], one, strict=True)]
    for name, (steps, packets, seconds) in found.items():
        speed = f"{steps / seconds:,.0f} steps and {packets / seconds:,.0f} packets for each CPU second"
        print(f"{name}: {steps:.0f} steps of {packets / steps:.0f} packets, {speed}")
    (steps, packets, seconds), (own_steps, own_packets, own_seconds) = found.values()
    print(f"ratio of packets a step: {own_packets / own_steps / (packets / steps):.2f}")
    print(f"ratio of packets for each CPU second: {own_packets / own_seconds / (packets / seconds):.1f}")


if __name__ == "__main__":
    main()
