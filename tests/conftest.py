import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from sojourn.scenario import Scenario

ROOT = Path(__file__).parents[1]

# `make test` tries a quarter of the examples that Hypothesis would; `make test-long` selects the profile with all of them.
# No verdict depends on how fast the machine is.
ALL = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("all", ALL)
settings.register_profile("few", ALL, max_examples=ALL.max_examples // 4)
settings.load_profile("few")

#: Continuous integration tries the same cases of what is drawn each time, so it tries fewer than `make test-long` does by hand.
IN_CI = "CI" in os.environ

Capture = pytest.CaptureFixture[str]

#: Files with tests that take tens of seconds, or that make what others of the file need for as long: they come first, so that no
#: process is left with one of them when the others have nothing more to do.
FIRST = (
    "test_additions.py",
    "test_crashes.py",
    "test_known_outcomes.py",
    "test_known_outcomes_queues.py",
    "test_scale.py",
    "test_search.py",
    "test_site.py",
    "test_wheel.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests are in the order of their files but for the first."""
    items.sort(key=lambda item: item.path.name not in FIRST)


@pytest.fixture(autouse=True)
def without_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are as wide as they need: pytest-xdist tells its workers the width of the terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)


def complaint(capsys: Capture) -> str:
    """Returns the only line on stderr, after checking that stdout is empty."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("sojourn: ")
    return captured.err


def is_shown(line: str, page: str) -> bool:
    """Returns whether a page of docs/ shows a line as what a command prints."""
    return f"    {line}" in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()


def scenario_data(**changes: Any) -> dict[str, Any]:
    """Returns a small scenario as plain data, with top-level keys changed; only its algorithms draw random numbers."""
    data: dict[str, Any] = {
        "name": "small",
        "sender_overhead": "0 s",
        "duration": "4 s",
        "warm_up": "1 s",
        "network": {
            "dumbbell": {
                "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms", "queue": {"name": "codel", "limit": "100 packets"}},
                "senders": [{"name": "a", "rate": "100 Mbit/s", "delay": "1 ms"}],
                "receivers": [{"name": "b", "rate": "100 Mbit/s", "delay": "1 ms"}],
            }
        },
        "flows": [{"from": "a", "to": "b", "count": 2, "tcp": "newreno"}],
    }
    data |= changes
    data["flows"] = [flows if "start_within" in flows else {"start": "0 s"} | flows for flows in data["flows"]]
    return data


@pytest.fixture
def scenario() -> "Callable[..., Scenario]":
    """Makes a small scenario, with top-level keys changed."""
    from sojourn.scenario import from_data

    return lambda **changes: from_data(scenario_data(**changes), "test")


SMALL_TOML = """
name = "small"
duration = "4 s"
warm_up = "1 s"

[network.dumbbell]
bottleneck = { rate = "10 Mbit/s", delay = "5 ms", queue = { name = "codel", limit = "100 packets" } }
senders = [{ name = "a", rate = "100 Mbit/s", delay = "1 ms" }]
receivers = [{ name = "b", rate = "100 Mbit/s", delay = "1 ms" }]

[[flows]]
from = "a"
to = "b"
count = 2
tcp = "newreno"
"""


@pytest.fixture
def scenario_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a small scenario file, with parts of its text replaced."""

    def write(*replacements: tuple[str, str]) -> Path:
        text = SMALL_TOML
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "small.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the tests of a module compile is kept from the user's cache, and the processes of users' code end."""
    from sojourn.plugins import processes

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        processes.POOL.close()
        yield
        processes.POOL.close()
