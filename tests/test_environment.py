"""Environments of agents that learn: what Gymnasium and PettingZoo ask of them, and that an episode is a run like any other."""

import os
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, Error, InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

from sojourn import _engine, backends, scenario, specification
from sojourn.backends.result import FRAMES, RunResult
from sojourn.environment import Bottleneck, BottleneckVector, parallel
from sojourn.errors import InputError, RunFailed
from sojourn.scenario.given import Given

#: The specification of the fields that a run's result has.
_FRAMES = tuple(FRAMES)


def text(tcp: str, flows: str = "", environment: str = "", duration: str = "2 s") -> str:
    """One flow at a bottleneck of 20 Mbit/s, and what else is given."""
    return f"""
name = "an agent"
duration = "{duration}"
stack = "linux-6"
[network.dumbbell]
senders = [{{ name = "server", rate = "1 Gbit/s", delay = "5 ms" }}]
receivers = [{{ name = "home", rate = "1 Gbit/s" }}]
bottleneck = {{ rate = "20 Mbit/s", delay = "10 ms", queue = {{ name = "droptail", limit = "60 packets" }} }}
[[flows]]
from = "server"
to = "home"
tcp = {{ {tcp} }}
{flows}
[probe]
flow_series = "50 ms"
queue_series = "50 ms"
{environment}
"""


AGENT = 'agent = true, interval = "1 rtt", reward = "pcc"'
DRAW = """
[environment.draw]
rate = { key = "network.dumbbell.bottleneck.rate", range = "5 Mbit/s..50 Mbit/s", spacing = "log" }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel", "fq_codel"] }
limit = { key = "network.dumbbell.bottleneck.queue.limit", values = ["20 packets", "100 packets"] }
"""
CROSS = '[[flows]]\nfrom = "server"\nto = "home"\ntcp = "cubic"\n'


def data(*arguments: str, **named: str) -> dict[str, Any]:
    """The same as plain data."""
    return tomllib.loads(text(*arguments, **named))


def run_of(path: Path) -> RunResult:
    """What the simulator finds of a scenario file."""
    read = scenario.from_data(scenario.read_toml(path), str(path), path.parent)
    run = specification.specify(read, read.seed)
    simulator = backends.named(backends.DEFAULT)
    simulator.check(run, Given(read))
    return simulator.run(run)


def same(first: RunResult, second: RunResult) -> bool:
    """Whether two results are the same in each frame and in their counts."""
    frames = all(getattr(first, name).equals(getattr(second, name)) for name in _FRAMES)
    return frames and (first.events, first.data_packets_delivered) == (second.events, second.data_packets_delivered)


def play(env: Bottleneck, seed: int, steps: int = 10_000) -> list[tuple[bytes, float]]:
    """Observations and rewards of an episode with actions that look random."""
    random = np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    found = [(observation.tobytes(), 0.0)]
    for _ in range(steps):
        action = random.integers(5) if isinstance(env.action_space, gymnasium.spaces.Discrete) else random.uniform(-0.5, 0.5, 1)
        observation, reward, terminated, truncated, _ = env.step(action)
        found.append((observation.tobytes(), reward))
        if terminated or truncated:
            break
    return found


@pytest.mark.parametrize("tcp", [AGENT, 'agent = true, interval = "20 ms", action = "window_steps"'])
def test_gymnasium_finds_nothing_to_object_to(tcp: str) -> None:
    """Gymnasium's checks pass without a warning, for continuous and for discrete actions, also of what `make` gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make("sojourn/Bottleneck-v0", scenario=data(tcp, environment=DRAW)).unwrapped)


def test_pettingzoo_finds_nothing_to_object_to() -> None:
    """PettingZoo's tests of the interface and of seeds pass for three agents beside a flow of CUBIC."""
    several = data('agent = true, interval = "30 ms", reward = "astraea"', flows=f"count = 3\n{CROSS}")
    parallel_api_test(parallel(several), num_cycles=200)
    parallel_seed_test(lambda: parallel(several), num_cycles=50)


@pytest.mark.parametrize(
    "tcp",
    [
        AGENT,
        'agent = true, interval = "20 ms", action = "rate_factor", observe = ["send_rate", "rtt_gradient", "pacing_rate"]',
        'agent = true, interval = "10 acks", action = "window_steps"',
        'agent = true, over = "cubic", slow_start = "hystart++", interval = "1 rtt"',
        'agent = true, only_tcp_info = true, observe = ["srtt", "cwnd", "delivery_rate", "retransmit_ratio"]',
    ],
)
def test_a_saved_episode_is_the_same_run(tcp: str, tmp_path: Path) -> None:
    """The scenario that an episode is saved as gives the result of the episode, with what was drawn, whole or broken off."""
    for steps in (12, 10_000):
        env = Bottleneck(data(tcp, flows=CROSS, environment=DRAW))
        play(env, 7, steps)
        saved = env.save(tmp_path)
        assert same(env.result(), run_of(saved))


QUEUE = 'agent = true, limit = "60 packets", interval = "15 ms", reward = "aqm"'


def with_queue(keys: str, **named: str) -> dict[str, Any]:
    """A flow of CUBIC, and an agent in the bottleneck's queue."""
    return tomllib.loads(text('name = "cubic"', **named).replace('name = "droptail", limit = "60 packets"', keys))


def test_an_agent_in_a_queue(tmp_path: Path) -> None:
    """It passes Gymnasium's checks, its episodes are the same runs once saved, and the more it drops the shorter the queue is."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make("sojourn/Bottleneck-v0", scenario=with_queue(QUEUE)).unwrapped)
    env = Bottleneck(with_queue(QUEUE, flows=CROSS))
    sojourns = []
    for probability in (0.0, 0.02):
        env.reset(seed=1)
        terms = []
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(np.array([probability]))
            over = terminated or truncated
            terms.append(info["terms"]["rtt"])
        sojourns.append(float(np.mean(terms)))
        saved = env.save(tmp_path)
        assert same(env.result(), run_of(saved))
    assert sojourns[1] < sojourns[0] / 2
    env.reset(seed=1)
    with pytest.raises(InvalidAction, match=r"action: 1.5 is out of bounds \(allowed: 0 to 1\)"):
        env.step(np.array([1.5]))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('agent = true, interval = "1 rtt"', 'interval: a queue is asked at times, such as every "15 ms"'),
        ('agent = true, action = "window"', 'action: unknown action "window"'),
        ('agent = true, observe = ["cwnd"]', 'observe: unknown feature "cwnd"'),
        ('agent = true, over = "codel"', "over: "),
        ('agent = true, target = "5 ms"', 'unknown key of agent "target"'),
    ],
)
def test_a_wrong_agent_in_a_queue(keys: str, message: str) -> None:
    """One line that says what is wrong, and what is allowed."""
    with pytest.raises(InputError) as refused:
        Bottleneck(with_queue(keys))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_saved_episode_runs_from_the_command_line(tmp_path: Path) -> None:
    """`sojourn run` carries out a saved episode."""
    env = Bottleneck(data(AGENT))
    play(env, 1)
    saved = env.save(tmp_path)
    done = subprocess.run([sys.executable, "-m", "sojourn", "run", str(saved)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "agent" in done.stdout


def test_an_episode_is_saved_with_its_files_elsewhere(tmp_path: Path) -> None:
    """Paths of a scenario lead from the folder that the episode is saved in, two levels further down."""
    traced = text(AGENT).replace('rate = "20 Mbit/s"', 'rate = { trace = "rate.csv" }')
    (tmp_path / "rate.csv").write_text("time_s,rate_mbit_s\n0,5\n1,9\n")
    (tmp_path / "actions.csv").write_text("another file of that name")
    (tmp_path / "traced.toml").write_text(traced)
    env = Bottleneck(tmp_path / "traced.toml")
    play(env, 1)
    saved = env.save(tmp_path / "episodes" / "one")
    assert same(env.result(), run_of(saved))


def test_the_same_seed_is_the_same_episode() -> None:
    """Two environments with one seed see the same bytes; another seed sees others."""
    made = [Bottleneck(data(AGENT, flows=CROSS, environment=DRAW)) for _ in range(2)]
    assert play(made[0], 3) == play(made[1], 3)
    assert play(made[0], 3) != play(made[0], 4)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_vector_is_its_environments(threads: int) -> None:
    """Each environment of a vector sees what it sees alone, whatever the threads; an episode begins a step after the end."""
    several = BottleneckVector(data(AGENT, environment=DRAW, duration="0.7 s"), 5, threads=threads)
    alone = [Bottleneck(data(AGENT, environment=DRAW, duration="0.7 s")) for _ in range(5)]
    together, infos = several.reset(seed=10)
    seen = [env.reset(seed=10 + place)[0] for place, env in enumerate(alone)]
    assert infos["seed"].tolist() == [10, 11, 12, 13, 14]
    assert np.array_equal(together, np.array(seen))
    over, begun = [False] * 5, 0
    for step in range(60):
        actions = np.sin(np.arange(5) + step).reshape(5, 1) / 2
        together, rewards, terminated, truncated, infos = several.step(actions)
        for place, env in enumerate(alone):
            if over[place]:
                begun += 1
                observation, _ = env.reset(seed=int(infos["seed"][place]))
                expected = (0.0, False, False)
            else:
                observation, reward, ended, cut, _ = env.step(actions[place])
                expected = (reward, ended, cut)
            assert np.array_equal(together[place], observation)
            assert (rewards[place], terminated[place], truncated[place]) == expected
            over[place] = bool(expected[1] or expected[2])
    assert begun >= 5


def test_an_agent_whose_data_is_delivered_has_ended() -> None:
    """A flow of limited size ends its episode as terminated, not as truncated."""
    env = Bottleneck(data('agent = true, over = "cubic", interval = "30 ms"', flows='size = "500 kB"', duration="20 s"))
    env.reset(seed=1)
    for _ in range(600):
        *_, terminated, truncated, _ = env.step(np.zeros(1))
        if terminated or truncated:
            break
    assert (terminated, truncated) == (True, False)


def test_what_is_drawn() -> None:
    """Each episode's draw is within what the file says, follows from its seed, and can be changed by a curriculum."""
    env = Bottleneck(data(AGENT, environment=DRAW))
    drawn = [env.reset(seed=seed)[1]["drawn"] for seed in range(40)]
    rates = [float(each["rate"].split()[0]) for each in drawn]
    assert 5 <= min(rates) < 8
    assert 35 < max(rates) <= 50
    assert {each["queue"] for each in drawn} == {"droptail", "codel", "fq_codel"}
    assert env.reset(seed=5)[1]["drawn"] == drawn[5]

    def easy_first(episode: int, values: dict[str, Any]) -> dict[str, Any]:
        return {"rate": "10 Mbit/s"} if episode < 2 else values

    env = Bottleneck(data(AGENT, environment=DRAW), curriculum=easy_first)
    assert [env.reset(seed=9)[1]["drawn"]["rate"] == "10 Mbit/s" for _ in range(3)] == [True, True, False]


def test_rewards() -> None:
    """PCC's reward is what its formula makes of the raw terms, and a function of one's own takes its place."""
    env = Bottleneck(data(AGENT))
    env.reset(seed=1)
    for _ in range(20):
        _, reward, _, _, info = env.step(np.array([0.2]))
        terms = info["terms"]
        expected = (10 * terms["throughput"] / 12_000 - 1000 * terms["rtt"] - 2000 * terms["loss"]) * 0.001
        assert reward == pytest.approx(expected, rel=1e-12)
    own = Bottleneck(data(AGENT), reward=lambda terms: terms["throughput"] - terms["send_rate"])
    own.reset(seed=1)
    _, reward, _, _, info = own.step(np.array([0.2]))
    assert reward == info["terms"]["throughput"] - info["terms"]["send_rate"]


def test_a_reward_of_ones_own_for_a_vector() -> None:
    """A function of arrays of terms gives the rewards of all environments, 0 where an episode begins; another shape is
    refused in one sentence."""
    made = gymnasium.make_vec(
        "sojourn/Bottleneck-v0", num_envs=3, scenario=data(AGENT, duration="1 s"), reward=lambda terms: terms["throughput"] + 1
    )
    made.reset(seed=1)
    begun = 0
    for _ in range(60):
        _, rewards, _, _, infos = made.step(np.full((3, 1), 0.1))
        first = infos.get("_seed", np.zeros(3, dtype=bool))
        assert rewards.tolist() == np.where(first, 0, infos["throughput"] + 1).tolist()
        begun += int(first.sum())
    assert begun > 0
    wrong = BottleneckVector(data(AGENT), 2, reward=lambda terms: terms["throughput"][:1])
    wrong.reset(seed=1)
    with pytest.raises(ValueError, match=r"reward: the function gave an array of shape \(1,\); \(2,\) is needed"):
        wrong.step(np.zeros((2, 1)))


def test_a_reset_in_the_middle_begins_an_episode() -> None:
    """As Gymnasium allows it: what was under way is given up."""
    env = Bottleneck(data(AGENT))
    whole = play(env, 2)
    play(env, 3, 5)
    assert play(env, 2) == whole


def test_wrong_use() -> None:
    """The usual exceptions of Gymnasium, each with one clear sentence."""
    env = Bottleneck(data(AGENT))
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(np.zeros(1))
    env.reset(seed=1)
    with pytest.raises(InvalidAction, match=r"action: 1.5 is out of bounds \(allowed: -1 to 1\)"):
        env.step(np.array([1.5]))
    with pytest.raises(InvalidAction, match=r"action: is not a number \(NaN\)"):
        env.step(np.array([np.nan]))
    with pytest.raises(InvalidAction, match="2 numbers; 1 are asked for"):
        env.step(np.zeros(2))
    no_numbers: list[object] = ["fast", None, {}, [[1], [1, 2]], np.array([1j])]
    for given in no_numbers:
        with pytest.raises(InvalidAction, match=r"^action: [^\n]* is no number$"):
            env.step(given)
    env.step(np.zeros(1))  # a refused action changes nothing
    env.close()
    with pytest.raises(ClosedEnvironmentError, match="was closed"):
        env.step(np.zeros(1))
    several = BottleneckVector(data(AGENT), 2)
    with pytest.raises(ResetNeeded, match="call reset"):
        several.step(np.zeros((2, 1)))
    several.reset(seed=1)
    with pytest.raises(InvalidAction, match="out of bounds"):
        several.step(np.array([[0.0], [-2.0]]))
    with pytest.raises(InputError, match=r"place: 2 is no environment \(there are 2, from 0\)"):
        several.save(2, "nowhere")
    with pytest.raises(Error, match="greater or equal to zero, actual value: -1"):
        several.reset(seed=[1, -1])
    several.close()
    with pytest.raises(ClosedEnvironmentError, match="was closed"):
        several.reset()
    for count, threads in ((0, 1), (-1, 1), (2, 0)):
        with pytest.raises(InputError, match=r"^(num_envs|threads): (0|-1) is not a number of at least 1$"):
            BottleneckVector(data(AGENT), count, threads=threads)
    with pytest.raises(InputError, match="scenario: 3 is neither the path of a file nor a scenario as plain data"):
        Bottleneck(3)  # type: ignore[arg-type]
    both = parallel(data(AGENT.replace("1 rtt", "30 ms"), flows="count = 2"))
    both.reset(seed=1)
    with pytest.raises(InvalidAction, match="action: 2 numbers for flow_1; 1 is asked for"):
        both.step({"flow_0": [0.0], "flow_1": [0.0, 0.0]})


def test_a_run_that_cannot_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends a run, such as more packets than memory has room for, is the exception that runs have."""
    env = Bottleneck(data(AGENT))
    env.reset(seed=1)

    class Full:
        def step(self, *_arguments: object) -> None:
            raise _engine.PluginFailed("60000000 packets were queued and under way")

    monkeypatch.setattr(env._runs, "_engine", Full())
    with pytest.raises(RunFailed, match="60000000 packets were queued and under way"):
        env.step(np.zeros(1))


@pytest.mark.parametrize(
    ("tcp", "message"),
    [
        (
            'agent = true, observe = ["latency_ration"]',
            'observe: unknown feature "latency_ration", did you mean "latency_ratio"?',
        ),
        ('agent = true, observe = ["rtt_mean"], only_tcp_info = true', "rtt_mean: a kernel's tcp_info does not show it"),
        ('agent = true, interval = "3 potatoes"', "interval"),
        ('agent = true, interval = "1_rtt"', 'allowed: a time such as "30 ms", round trips such as "1 rtt", or'),
        ('agent = true, interval = "0 rtt"', 'interval: "0 rtt": must be more than 0'),
        ('agent = true, interval = "1.5 acks"', "must be whole"),
        ('agent = true, slow_start = "hystart++"', 'slow_start: an agent without "over" alone sets the window'),
        ("agent = true, history = 0", "history: 0 is not a number of intervals (from 1 to 1,000)"),
        ('agent = true, action = "windows"', 'action: unknown action "windows", did you mean "window"?'),
        ('agent = true, action = { name = "window", least = 9, most = 3 }', "least = 9 and most = 3 are out of range"),
        ('agent = true, action = "probability"', 'action: unknown action "probability"'),
        ('agent = true, reward = "fame"', 'reward: unknown reward "fame"'),
        ('agent = true, over = "cbr"', "over: cbr has no window"),
        ('agent = true, name = "cubic"', 'give either "name" or "agent"'),
        ("agent = 1", "write agent = true"),
        ("agent = true, beta = 0.5", 'unknown key of agent "beta"'),
        ('actions = "nothing.csv"', 'cannot read "nothing.csv"'),
        ('name = "cubic"', "no agent to ask; give one flow tcp = { agent = true }"),
    ],
)
def test_a_wrong_scenario(tcp: str, message: str) -> None:
    """One line that says what is wrong, and what is allowed."""
    with pytest.raises(InputError) as refused:
        Bottleneck(data(tcp))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_wrong_files(tmp_path: Path) -> None:
    """An agent in a run without an environment, a wrong file of actions, and what cannot be drawn: one line, exit status 2."""
    (tmp_path / "bad.csv").write_text("flow,time,action\n0,0,fast\n")
    cases = {
        text(
            AGENT
        ): 'flows.0.tcp.agent: it waits for an environment (sojourn.environment); give "policy" or "actions" to run it alone',
        text('actions = "bad.csv"'): 'actions: "bad.csv": line 2: "0,0,fast" is not a flow, a time and an action',
        text(AGENT, environment='[environment.draw]\nrat = "1..2"'): "environment: draw.rat: sets nothing",
    }
    for place, (content, message) in enumerate(cases.items()):
        file = tmp_path / f"{place}.toml"
        file.write_text(content)
        done = subprocess.run([sys.executable, "-m", "sojourn", "run", str(file)], capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stdout
        assert message in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


def test_agents_of_one_environment() -> None:
    """One agent for an environment of one, and agents that decide at common times for a parallel one."""
    with pytest.raises(InputError, match=r"2 agents; sojourn\.environment\.parallel is for several"):
        Bottleneck(data(AGENT, flows="count = 2"))
    with pytest.raises(InputError, match='interval: several agents decide at common times; give a time, such as "30 ms"'):
        parallel(data(AGENT, flows="count = 2"))
    other = CROSS.replace('"cubic"', '{ agent = true, interval = "2 rtt" }')
    with pytest.raises(InputError, match="the agents of an environment have the same keys"):
        Bottleneck(data(AGENT, flows=other))


def test_a_vector_works_in_a_forked_process() -> None:
    """A process that was forked has none of the vector's threads: it does their part itself, and sees the same."""
    several = BottleneckVector(data(AGENT), 4, threads=2)
    several.reset(seed=1)
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        seen = several.step(np.full((4, 1), 0.25))[0]
        os.write(there, seen.tobytes())
        os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as received:
        of_child = received.read()
    assert os.waitpid(child, 0)[1] == 0
    assert of_child == several.step(np.full((4, 1), 0.25))[0].tobytes()
