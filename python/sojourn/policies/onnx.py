"""Policies in ONNX (https://onnx.ai), by its own package.

The graph has to be a chain from one input to one output: matrices, what is added or multiplied element by element, and
functions. What is done to inputs before the first matrix, such as a normalisation, becomes part of it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.policies.model import CLIP, Layer, Policy, checked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: The entry of a model's metadata that has the keys of the agent, as JSON.
METADATA = "sojourn"

#: Operators that stand for the function of a layer.
FUNCTIONS = {"Tanh": "tanh", "Relu": "relu", "Sigmoid": "sigmoid"}

#: Operators that change no number.
NEUTRAL = ("Identity", "Flatten", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Dropout")

#: Operators of a number and a constant, element by element.
ELEMENTWISE = ("Add", "Sub", "Mul", "Div")

ALLOWED = ("Gemm", "MatMul", *ELEMENTWISE, *FUNCTIONS, "Clip", *NEUTRAL, "Constant")


def read(content: bytes) -> Policy:
    """Reads a model.

    Raises:
        ValueError: it is none, or no chain of what a policy may have; one line.
    """
    onnx = _package()
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        model = onnx.load_model_from_string(content)
        onnx.checker.check_model(model)
    except (DecodeError, onnx.checker.ValidationError, ValueError) as error:
        raise ValueError(
            f"is not a model in ONNX: {str(error).strip().splitlines()[0] if str(error).strip() else 'cannot be read'}"
        ) from None
    graph = model.graph
    constants = {each.name: _array(each) for each in graph.initializer}
    inputs = [each.name for each in graph.input if each.name not in constants]
    if len(inputs) != 1 or len(graph.output) != 1:
        raise ValueError(f"has {len(inputs)} inputs and {len(graph.output)} outputs; a policy has one of each")
    chain = _Chain(inputs[0], constants)
    for node in graph.node:
        chain.add(node, {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute})
    if chain.value != graph.output[0].name:
        raise ValueError(f'its output "{graph.output[0].name}" does not come from the input "{inputs[0]}"')
    return checked(Policy(chain.layers(), _agent(model)))


def model_of(policy: Policy) -> Any:
    """A policy as a model: a Gemm and a function for each layer, and the keys of the agent in its metadata.

    Raises:
        ValueError: the package ``onnx`` is missing.
    """
    _package()
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    nodes, tensors, value = [], [], "observation"
    operators = {function: operator for operator, function in FUNCTIONS.items()} | {"identity": "Identity"}
    for place, layer in enumerate(policy.layers):
        named = {key: f"{key}_{place}" for key in ("weights", "biases", "sums", "outputs")}
        tensors.append(numpy_helper.from_array(np.asarray(layer.weights, np.float32), named["weights"]))
        tensors.append(numpy_helper.from_array(np.asarray(layer.biases, np.float32), named["biases"]))
        nodes.append(helper.make_node("Gemm", [value, named["weights"], named["biases"]], [named["sums"]], transB=1))
        if isinstance(layer.function, str):
            nodes.append(helper.make_node(operators[layer.function], [named["sums"]], [named["outputs"]]))
        else:
            bounds = [f"{bound}_{place}" for bound in ("least", "most")]
            for name, bound in zip(bounds, layer.function[CLIP], strict=True):
                tensors.append(numpy_helper.from_array(np.asarray(bound, np.float32), name))
            nodes.append(helper.make_node("Clip", [named["sums"], *bounds], [named["outputs"]]))
        value = named["outputs"]
    ends = (("observation", policy.layers[0].inputs), (value, policy.layers[-1].outputs))
    first, last = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width]) for name, width in ends)
    graph = helper.make_graph(nodes, "policy", [first], [last], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {METADATA: json.dumps(dict(policy.agent), sort_keys=True)})
    return model


def _package() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
    except ImportError:
        raise ValueError('needs the package onnx: pip install "sojourn[learning]"') from None
    return onnx


def _array(tensor: Any) -> Any:
    from onnx import numpy_helper

    try:
        return numpy_helper.to_array(tensor)
    except (
        KeyError,
        TypeError,
        ValueError,
    ) as error:  # what the package raises of an unknown type of numbers, or of too few of them
        raise ValueError(f"has a tensor that cannot be read: {tensor.name} ({error})") from None


def _agent(model: Any) -> Mapping[str, Any]:
    entries = {each.key: each.value for each in model.metadata_props}
    if METADATA not in entries:
        return {}
    try:
        agent = json.loads(entries[METADATA])
    except json.JSONDecodeError:
        agent = None
    if not isinstance(agent, dict):
        raise ValueError(f'its metadata "{METADATA}" is not a table in JSON')
    return agent


@dataclass
class _Affine:
    """What is done to each of some numbers: times a factor, plus an amount. Both have a number for each, or one for all."""

    factor: "Numbers"
    amount: "Numbers"


class _Chain:
    """The chain of a graph's nodes, from the input on."""

    def __init__(self, value: str, constants: "dict[str, Any]") -> None:
        import numpy as np

        self.value = value
        self._constants = constants
        self._layers: list[Layer] = []
        #: What is done to the numbers since the last function, or before the first matrix.
        self._affine = _Affine(np.ones(()), np.zeros(()))

    def layers(self) -> list[Layer]:
        """Those that were found."""
        self._settle()
        return self._layers

    def add(self, node: Any, attributes: Mapping[str, Any]) -> None:
        """Goes on with a node."""
        import numpy as np

        kind, place = node.op_type, f"node {node.name or node.output[0]}"
        if kind not in ALLOWED or node.domain not in ("", "ai.onnx"):
            raise ValueError(f"{place}: the operator {kind} is not one of a policy (allowed: {', '.join(ALLOWED)})")
        if kind == "Constant":
            self._constants[node.output[0]] = self._constant_of(attributes, place)
            return
        used = [name for name in node.input if name]
        if used.count(self.value) != 1:
            raise ValueError(f"{place}: does not continue the chain; it takes {', '.join(used) or 'nothing'}, not {self.value}")
        where = used.index(self.value)
        others = [self._numbers(name, place) for name in used if name != self.value] if kind not in NEUTRAL else []
        if kind == "Gemm":
            self._gemm(others, attributes, where, place)
        elif kind == "MatMul":
            if where != 0 or others[0].ndim != 2:
                raise ValueError(f"{place}: must multiply what comes with a matrix at its right")
            self._dense(others[0].T, np.zeros(others[0].shape[1]), place)
        elif kind in ELEMENTWISE:
            self._elementwise(kind, others[0].reshape(-1) if others[0].size > 1 else others[0].reshape(()), where, place)
        elif kind in FUNCTIONS:
            self._function(FUNCTIONS[kind], place)
        elif kind == "Clip":
            given = others or [np.asarray(attributes[key]) for key in ("min", "max") if key in attributes]
            bounds = [float(each.reshape(())) for each in given]
            if len(bounds) != 2 or bounds[0] > bounds[1]:
                raise ValueError(f"{place}: needs two bounds, the least first")
            self._function({CLIP: bounds}, place)
        self.value = node.output[0]

    def _constant_of(self, attributes: Mapping[str, Any], place: str) -> Any:
        import numpy as np

        if "value" in attributes:
            return _array(attributes["value"])
        for key in ("value_float", "value_floats", "value_int", "value_ints"):
            if key in attributes:
                return np.asarray(attributes[key])
        raise ValueError(f"{place}: a constant that is no number")

    def _numbers(self, name: str, place: str) -> "Numbers":
        import numpy as np

        if name not in self._constants:
            raise ValueError(f"{place}: {name} is not a constant")
        try:
            found = np.asarray(self._constants[name], np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{place}: {name} has no numbers") from None
        if not np.isfinite(found).all():
            raise ValueError(f"{place}: {name} has a number that is not finite")
        return found

    def _gemm(self, others: "list[Numbers]", attributes: Mapping[str, Any], where: int, place: str) -> None:
        import numpy as np

        if where != 0 or attributes.get("transA", 0) or not others or others[0].ndim != 2:
            raise ValueError(f"{place}: must multiply what comes, not transposed, with a matrix at its right")
        weights = (others[0] if attributes.get("transB", 0) else others[0].T) * attributes.get("alpha", 1.0)
        biases = others[1].reshape(-1) * attributes.get("beta", 1.0) if len(others) > 1 else np.zeros(1)
        if biases.size not in (1, len(weights)):
            raise ValueError(f"{place}: {biases.size} biases; there are {len(weights)} outputs")
        self._dense(weights, np.broadcast_to(biases, len(weights)), place)

    def _dense(self, weights: "Numbers", biases: "Numbers", place: str) -> None:
        """A matrix, into which goes what was done to each number before."""
        factor, amount = self._affine.factor, self._affine.amount
        if max(factor.size, amount.size) not in (1, weights.shape[1]):
            raise ValueError(f"{place}: takes {weights.shape[1]} numbers; {max(factor.size, amount.size)} come")
        if self._layers and self._layers[-1].outputs != weights.shape[1]:
            raise ValueError(f"{place}: takes {weights.shape[1]} numbers; {self._layers[-1].outputs} come")
        # numpy's own sums depend on the processor, and the specification of a run has these numbers.
        biases = biases + [math.fsum(row) for row in weights * amount]
        self._put(weights * factor, biases, "identity")
        self._forget()

    def _elementwise(self, kind: str, other: "Numbers", where: int, place: str) -> None:
        import numpy as np

        if kind in ("Sub", "Div") and where != 0:
            raise ValueError(f"{place}: must take from what comes, or divide it")
        if kind == "Div" and not other.all():
            raise ValueError(f"{place}: divides by zero")
        factor = {"Mul": other, "Div": 1 / other if kind == "Div" else other}.get(kind, np.ones(()))
        amount = {"Add": other, "Sub": -other}.get(kind, np.zeros(()))
        before = self._affine
        sizes = {each.size for each in (before.factor, before.amount, other) if each.size > 1}
        if len(sizes) > 1:
            raise ValueError(f"{place}: {other.size} numbers do not fit")
        self._affine = _Affine(before.factor * factor, before.amount * factor + amount)

    def _function(self, function: Any, place: str) -> None:
        self._settle(always=not self._layers or self._layers[-1].function != "identity", place=place)
        layer = self._layers.pop()
        self._layers.append(Layer(layer.weights, layer.biases, function))

    def _settle(self, always: bool = False, place: str = "the graph") -> None:
        """What was done to each number since the last matrix becomes part of it, or of a layer of its own."""
        import numpy as np

        factor, amount = self._affine.factor, self._affine.amount
        is_done = bool((factor != 1).any() or (amount != 0).any())
        if not is_done and not always:
            return
        if self._layers and not always and self._layers[-1].function == "identity":
            last = self._layers.pop()
            weights, biases = np.asarray(last.weights), np.asarray(last.biases)
            if max(factor.size, amount.size) not in (1, len(biases)):
                raise ValueError(f"{place}: {max(factor.size, amount.size)} numbers do not fit {len(biases)}")
            scale = np.broadcast_to(factor, len(biases))
            self._put(weights * scale[:, None], biases * scale + amount, "identity")
        else:
            width = self._layers[-1].outputs if self._layers else max(factor.size, amount.size)
            if not self._layers and width == 1:
                raise ValueError(f"{place}: a function before the first matrix")
            if max(factor.size, amount.size) not in (1, width):
                raise ValueError(f"{place}: {max(factor.size, amount.size)} numbers do not fit {width}")
            self._put(np.eye(width) * np.broadcast_to(factor, width), np.broadcast_to(amount, width), "identity")
        self._forget()

    def _put(self, weights: "Numbers", biases: "Numbers", function: str) -> None:
        self._layers.append(Layer(weights.tolist(), biases.tolist(), function))

    def _forget(self) -> None:
        import numpy as np

        self._affine = _Affine(np.ones(()), np.zeros(()))
