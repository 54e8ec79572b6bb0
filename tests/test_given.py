"""Keys that the user set: a backend can refuse exactly those, and not defaults."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import Capture, complaint, scenario_data
from doubles import INVENTOR, Inventor, register
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.runs import Cell
from sojourn.scenario import from_data
from sojourn.scenario.given import Given
from sojourn.specification import RunSpecification

REFUSED = "stack.minimum_rto"


class Picky(Inventor):
    """A backend that cannot set the minimum retransmission timeout."""

    def check(self, _run: RunSpecification, given: Given, /) -> None:
        for key in given.having(REFUSED):
            raise InputError(f"{key}: the backend {self.identity.name} cannot set it")


OWN_STACK = [{"from": "a", "to": "b", "tcp": "newreno", "stack": {"minimum_rto": "300 ms"}}]
SET = {"stack": {"minimum_rto": "300 ms"}}


def test_default_is_not_refused() -> None:
    """A backend that cannot set a value does not refuse it if it is a default or part of a profile."""
    for changes in ({}, {"stack": "linux-6"}, {"stack": {"maximum_rto": "90 s"}}):
        assert sojourn.run(from_data(scenario_data(**changes), "test"), backend=Picky()).runs.height == 1


def test_profile_default_is_not_given() -> None:
    """A parameter's value that comes from the profile does not count as set; written out, it does, and is the same run."""
    pair = {"from": "a", "to": "b"}
    plain = Cell({}, from_data(scenario_data(stack="linux-6", flows=[pair | {"tcp": "hstcp"}]), "test"))
    written = {"name": "hstcp", "rules": "linux"}
    explicit = Cell({}, from_data(scenario_data(stack="linux-6", flows=[pair | {"tcp": written}]), "test"))
    assert plain.given.having("tcp") == ["flows.0.tcp.name"]
    assert explicit.given.having("tcp") == ["flows.0.tcp.name", "flows.0.tcp.rules"]
    assert plain.run(0, INVENTOR).key == explicit.run(0, INVENTOR).key


@pytest.mark.parametrize(
    ("changes", "key"), [(SET, "stack.minimum_rto"), ({"flows": OWN_STACK}, r"flows\.0\.stack\.minimum_rto")]
)
def test_api_value_is_refused(changes: dict[str, Any], key: str) -> None:
    """A value set in a scenario from Python is refused by its key, and nothing is run."""
    backend = Picky()
    with pytest.raises(InputError, match=f'^scenario "small": {key}: the backend inventor cannot set it$'):
        sojourn.run(from_data(scenario_data(**changes), "test"), backend=backend)
    assert backend.started == []


def test_file_and_option_are_refused(
    scenario_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """A value set by a file, a sweep or `--set` is refused by its key in one line."""
    register(monkeypatch, Picky)
    file = scenario_file()
    text = file.read_text(encoding="utf-8")
    message = "stack.minimum_rto: the backend inventor cannot set it\n"

    assert status(["check", str(file)]) == 0
    capsys.readouterr()
    for command in (["run"], ["plan"], ["check"]):
        assert status([*command, str(file), "--set", "stack.minimum_rto='300 ms'"]) == 2
        assert complaint(capsys) == f"sojourn: {file}: {message}"
    file.write_text(f'{text}\n[stack]\nminimum_rto = "300 ms"\n', encoding="utf-8")
    assert status(["run", str(file)]) == 2
    assert complaint(capsys) == f"sojourn: {file}: {message}"
    axis = '[sweep.axes]\nrto = { key = "stack.minimum_rto", values = ["300 ms"] }\n'
    file.write_text(text + axis, encoding="utf-8")
    assert status(["run", str(file)]) == 2
    assert complaint(capsys) == f"sojourn: {file}: cell rto=300 ms: {message}"


def test_explicit_default_keeps_key() -> None:
    """A default that is written out gives the same run, but counts as set by the user."""
    plain = Cell({}, from_data(scenario_data(), "test"))
    default = "1 s"  # RFC 6298
    explicit = Cell({}, from_data(scenario_data(stack={"profile": "rfc", "minimum_rto": default}, seed=1), "test"))
    assert plain.run(0, INVENTOR).key == explicit.run(0, INVENTOR).key
    assert not plain.given.having("stack")
    assert plain.given.having("seed") == []
    assert explicit.given.having("stack") == ["stack.profile", "stack.minimum_rto"]


def test_nested_keys_are_recorded() -> None:
    """Keys of nested tables and lists count as set, and no others."""
    flows = [{"from": "a", "to": "b", "tcp": {"name": "cubic", "slow_start": "hystart", "beta": 0.8}}]
    found = Given(from_data(scenario_data(flows=flows), "test"))
    assert found.having("tcp") == ["flows.0.tcp.name", "flows.0.tcp.slow_start", "flows.0.tcp.beta"]
    queue = "network.dumbbell.bottleneck.queue"
    assert found.having(queue) == [f"{queue}.name", f"{queue}.limit"]
    assert found.having("senders.0.rate") == ["network.dumbbell.senders.0.rate"]
    assert found.having("probe") == []
