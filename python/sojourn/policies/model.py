"""What a policy is."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sojourn import _engine

#: The function that has two bounds.
CLIP = "clip"

#: The keys of a policy in JSON.
LAYERS, AGENT = "layers", "agent"


@dataclass(frozen=True)
class Layer:
    """A dense layer: each output is a function of a row of weights times the inputs plus a bias."""

    #: A row for each output.
    weights: Sequence[Sequence[float]]
    #: A number for each output.
    biases: Sequence[float]
    #: ``identity``, ``tanh``, ``relu``, ``sigmoid``, or ``{"clip": [least, most]}``.
    function: str | Mapping[str, Sequence[float]] = "identity"

    @property
    def inputs(self) -> int:
        """How many numbers it takes."""
        return len(self.weights[0])

    @property
    def outputs(self) -> int:
        """How many numbers it gives."""
        return len(self.weights)

    def as_json(self) -> dict[str, Any]:
        """The layer as files and specifications of runs have it."""
        weights = [[float(number) for number in row] for row in self.weights]
        function = (
            self.function
            if isinstance(self.function, str)
            else {key: list(map(float, each)) for key, each in self.function.items()}
        )
        return {"weights": weights, "biases": [float(number) for number in self.biases], "function": function}


@dataclass(frozen=True)
class Policy:
    """A network, and what its file says of the agent that it was trained as."""

    #: Each takes what the one before gives.
    layers: Sequence[Layer]
    #: Keys of an agent, as a scenario has them: ``interval``, ``observe`` and so on.
    agent: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The network as the specification of a run has it."""
        return {LAYERS: [layer.as_json() for layer in self.layers]}


def checked(policy: Policy) -> Policy:
    """A policy whose layers fit; a ``ValueError`` says in one line where they do not, and what is allowed."""
    try:
        text = json.dumps({**policy.as_json(), AGENT: dict(policy.agent)}, allow_nan=False)
    except ValueError:
        raise ValueError("has a number that is not finite") from None
    check(text)
    return policy


def check(text: str) -> None:
    """Checks the text of a policy in JSON; the engine's crate for controllers that learn says what is wrong."""
    try:
        _engine.check_policy(text)
    except _engine.SpecificationError as error:
        raise ValueError(str(error)) from None
