"""What a policy is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

#: The functions of a layer that have no parameters.
FUNCTIONS = ("identity", "tanh", "relu", "sigmoid")

#: The function that has two bounds.
CLIP = "clip"

#: The keys of a layer in a file.
LAYER_KEYS = ("weights", "biases", "function")


@dataclass(frozen=True)
class Layer:
    """A dense layer: each output is a function of a row of weights times the inputs plus a bias."""

    #: A row for each output.
    weights: Sequence[Sequence[float]]
    #: A number for each output.
    biases: Sequence[float]
    #: One of ``FUNCTIONS``, or ``{"clip": [least, most]}``.
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
        return {"layers": [layer.as_json() for layer in self.layers]}


def layer_of(data: object, place: str) -> Layer:
    """A layer read from plain data; a ``ValueError`` says where it is wrong, and what is allowed."""
    if not isinstance(data, Mapping) or set(data) - set(LAYER_KEYS) or not {"weights", "biases"} <= set(data):
        raise ValueError(f'{place}: must be a table with "weights", "biases" and perhaps "function"')
    weights, biases, function = data["weights"], data["biases"], data.get("function", "identity")
    if not isinstance(weights, list) or not weights or not all(_are_numbers(row) and row for row in weights):
        raise ValueError(f"{place}.weights: must be a list of rows of numbers")
    if len(set(map(len, weights))) > 1:
        raise ValueError(f"{place}.weights: its rows differ in length")
    if not _are_numbers(biases):
        raise ValueError(f"{place}.biases: must be a list of numbers")
    if len(biases) != len(weights):
        raise ValueError(f"{place}.biases: {len(biases)} numbers; there are {len(weights)} rows of weights")
    return Layer(weights, biases, function_of(function, f"{place}.function"))


def function_of(given: object, place: str) -> str | Mapping[str, Sequence[float]]:
    """A function read from plain data."""
    if isinstance(given, str) and given in FUNCTIONS:
        return given
    if isinstance(given, Mapping) and list(given) == [CLIP]:
        bounds = given[CLIP]
        if isinstance(bounds, list) and _are_numbers(bounds) and len(bounds) == 2 and bounds[0] <= bounds[1]:
            return {CLIP: bounds}
    raise ValueError(f'{place}: {given!r} is none of {", ".join(FUNCTIONS)} and {{"clip": [least, most]}}')


def chained(layers: Sequence[Layer]) -> Sequence[Layer]:
    """The layers, each of which takes as many numbers as the one before gives."""
    if not layers:
        raise ValueError("layers: at least one is needed")
    for place, (before, layer) in enumerate(pairwise(layers), start=1):
        if layer.inputs != before.outputs:
            raise ValueError(f"layers.{place}.weights: {layer.inputs} numbers in a row; layer {place - 1} gives {before.outputs}")
    return layers


def _are_numbers(given: object) -> bool:
    return isinstance(given, list) and all(
        isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number) for number in given
    )
