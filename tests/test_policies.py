"""Policies: what their files say, and what is wrong with them. Their arithmetic is tested in crates/learning/src/policy."""

import json
import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn.policies import Layer, Policy, read, write

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

AGENT = {"interval": "2 rtt", "observe": ["latency_ratio", "send_ratio"], "history": 2}


#: The functions of layers, by numpy.
BY_NUMPY: dict[str, Callable[[Any], Any]] = {
    "identity": lambda sums: sums,
    "tanh": np.tanh,
    "relu": lambda sums: np.maximum(sums, 0),
    "sigmoid": lambda sums: 1 / (1 + np.exp(-sums)),
}


def outputs(policy: Policy, inputs: Any) -> Any:
    """What the network gives, by matrices of numpy."""
    for layer in policy.layers:
        sums = np.asarray(layer.weights) @ inputs + np.asarray(layer.biases)
        if isinstance(layer.function, str):
            inputs = BY_NUMPY[layer.function](sums)
        else:
            least, most = layer.function["clip"]
            inputs = np.clip(sums, least, most)
    return inputs


def model(nodes: list[Any], constants: dict[str, Any], width: int, result: str = "result") -> Any:
    """A model in ONNX from the input "x" to "result"."""
    ends = (
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, width])],
        [helper.make_tensor_value_info(result, TensorProto.FLOAT, ["n", "outputs"])],
    )
    tensors = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items()]
    return helper.make_model(
        helper.make_graph(nodes, "g", *ends, tensors), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )


def saved(folder: Path, made: Any) -> Path:
    path = folder / "mine.onnx"
    path.write_bytes(made.SerializeToString())
    return path


SHAPES = st.lists(st.integers(1, 4), min_size=2, max_size=4)
FUNCTIONS = st.sampled_from(["identity", "tanh", "relu", "sigmoid", {"clip": [-0.5, 0.75]}])


@st.composite
def policies(draw: Any) -> Policy:
    """A network of up to three layers, whose numbers single precision holds exactly."""
    widths = draw(SHAPES)
    number = st.integers(-64, 64).map(lambda whole: whole / 32)
    layers = [
        Layer(
            [[draw(number) for _ in range(inputs)] for _ in range(outputs)],
            [draw(number) for _ in range(outputs)],
            draw(FUNCTIONS),
        )
        for inputs, outputs in pairwise(widths)
    ]
    return Policy(layers, AGENT)


@given(policy=policies())
def test_policies_are_read_as_they_were_written(policy: Policy, tmp_path_factory: pytest.TempPathFactory) -> None:
    """JSON keeps a policy to the digit. In ONNX layers without a function may become one, so that what is read gives the same
    numbers, and the keys of the agent are the same. A path may be a string."""
    folder = tmp_path_factory.mktemp("policies")
    write(policy, folder / "mine.json")
    assert read(str(folder / "mine.json")).as_json() == policy.as_json()
    write(policy, str(folder / "mine.onnx"))
    found = read(folder / "mine.onnx")
    assert found.agent == AGENT
    for inputs in np.linspace(-2, 2, 5)[:, None] * np.ones(policy.layers[0].inputs):
        assert outputs(found, inputs) == pytest.approx(outputs(policy, inputs), abs=1e-12)


@given(policy=policies(), inputs=st.lists(st.integers(-32, 32), min_size=4, max_size=4))
def test_written_models_are_what_onnx_says(policy: Policy, inputs: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    """ONNX's own reference evaluator gives for a model that was written what the policy gives, in single precision."""
    path = tmp_path_factory.mktemp("policies") / "mine.onnx"
    write(policy, path)
    observation = np.asarray(inputs[: policy.layers[0].inputs], np.float32)[None] / 16
    (found,) = ReferenceEvaluator(onnx.load(path)).run(None, {"observation": observation})
    assert found[0] == pytest.approx(outputs(policy, observation[0].astype(float)), abs=2e-5)


def test_exported_models_are_read(tmp_path: Path) -> None:
    """A chain as frameworks write it: normalisation, MatMul with a bias added, Gemm with factors, a scaled output, and operators
    that change nothing. What is read gives what ONNX's reference evaluator gives."""
    random = np.random.default_rng(1)
    normal = random.normal
    constants = {"mean": normal(size=3), "deviation": random.uniform(1, 2, 3), "scale": 0.5, "low": -1.0, "high": 1.0}
    constants |= {"w0": normal(size=(3, 4)), "b0": normal(size=4), "w1": normal(size=(4, 2)), "b1": normal(size=2)}
    nodes = [
        helper.make_node("Flatten", ["x"], ["flat"]),
        helper.make_node("Sub", ["flat", "mean"], ["centred"]),
        helper.make_node("Div", ["centred", "deviation"], ["normal"]),
        helper.make_node("MatMul", ["normal", "w0"], ["product"]),
        helper.make_node("Add", ["b0", "product"], ["sums"]),
        helper.make_node("Tanh", ["sums"], ["hidden"]),
        helper.make_node("Gemm", ["hidden", "w1", "b1"], ["mixed"], alpha=2.0, beta=0.5),
        helper.make_node("Mul", ["mixed", "scale"], ["scaled"]),
        helper.make_node("Clip", ["scaled", "low", "high"], ["result"]),
    ]
    made = model(nodes, constants, 3)
    policy = read(saved(tmp_path, made))
    assert [(layer.inputs, layer.outputs) for layer in policy.layers] == [(3, 4), (4, 2)]
    for inputs in random.normal(size=(20, 3)).astype(np.float32):
        (found,) = ReferenceEvaluator(made).run(None, {"x": inputs[None]})
        assert outputs(policy, inputs.astype(float)) == pytest.approx(found[0], abs=1e-5)


def test_a_scaled_function_is_a_layer_of_its_own(tmp_path: Path) -> None:
    """What is done to a function's outputs before the end cannot go into the layer before: tanh(x) times 3, not tanh(3 x)."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["hidden"]),
        helper.make_node("Mul", ["hidden", "three"], ["result"]),
    ]
    policy = read(saved(tmp_path, model(nodes, {"w": [[1.0, 0.0], [0.0, 1.0]], "three": 3.0}, 2)))
    assert outputs(policy, np.asarray([0.5, -1.0])) == pytest.approx([3 * math.tanh(0.5), 3 * math.tanh(-1.0)])


@pytest.mark.parametrize(
    ("nodes", "constants", "complaint"),
    [
        ([("Softmax", ["x"])], {}, "the operator Softmax is not one of a policy (allowed: Gemm, MatMul,"),
        ([("MatMul", ["x", "x"])], {}, "does not continue the chain"),
        ([("MatMul", ["w", "x"])], {"w": [[1.0, 2.0]]}, "must multiply what comes with a matrix at its right"),
        ([("Tanh", ["x"])], {}, "a function before the first matrix"),
        ([("Div", ["x", "zero"])], {"zero": [0.0, 1.0]}, "divides by zero"),
        ([("MatMul", ["x", "w"])], {"w": [[math.inf], [1.0]]}, "has a number that is not finite"),
    ],
)  # fmt: skip
def test_models_that_are_no_policies(tmp_path: Path, nodes: list[Any], constants: dict[str, Any], complaint: str) -> None:
    """Whatever is no chain of matrices and functions is refused in one line that names the node."""
    made = model([helper.make_node(kind, inputs, ["result"]) for kind, inputs in nodes], constants, 2)
    with pytest.raises(ValueError, match=r"^[^\n]*$") as raised:
        read(saved(tmp_path, made))
    assert complaint in str(raised.value)


LAYER = {"weights": [[1.0, 2.0]], "biases": [0.0]}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ([], 'must be a table with "layers", a list, and perhaps "agent"'),
        ({"layers": []}, "layers: at least one is needed"),
        ({"layers": [LAYER], "more": 1}, 'must be a table with "layers"'),
        ({"layers": [{**LAYER, "biases": [0.0, 1.0]}]}, "layers.0.biases: 2 numbers; there are 1 rows of weights"),
        ({"layers": [{**LAYER, "weights": [[1.0], [1.0, 2.0]]}]}, "layers.0.weights: its rows differ in length"),
        ({"layers": [{**LAYER, "weights": [["1"]]}]}, "layers.0.weights: must be a list of rows of numbers"),
        ({"layers": [{**LAYER, "function": "gelu"}]}, 'layers.0.function: "gelu" is none of identity, tanh, relu'),
        ({"layers": [{**LAYER, "function": {"clip": [1, 0]}}]}, "layers.0.function"),
        ({"layers": [LAYER, LAYER]}, "layers.1.weights: 2 numbers in a row; layer 0 gives 1"),
        ({"layers": [LAYER], "agent": 1}, "agent: must be a table"),
        ({"layers": [{**LAYER, "biases": [math.inf]}]}, "is not JSON"),
        ({"layers": [{"weights": [[0.0] * 100_000], "biases": [0.0]}]}, "has 100001 numbers; at most 100000 are allowed"),
    ],
)  # fmt: skip
def test_matrices_that_are_no_policies(tmp_path: Path, data: object, complaint: str) -> None:
    """A file with the wrong keys, shapes or numbers is refused in one line that says where."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=r"^[^\n]*$") as raised:
        read(path)
    assert str(raised.value).startswith('"mine.json": ')
    assert complaint in str(raised.value)


def test_a_policy_of_the_wrong_shape_is_not_written(tmp_path: Path) -> None:
    """What could not be read is not written: one line says where its layers do not fit."""
    for layers, complaint in (
        ([Layer([[1.0, 2.0]], [0.0, 1.0])], "layers.0.biases: 2 numbers; there are 1 rows of weights"),
        ([Layer([[1.0, math.nan]], [0.0])], "has a number that is not finite"),
    ):
        for name in ("mine.json", "mine.onnx"):
            with pytest.raises(ValueError, match=r"^[^\n]*$") as raised:
                write(Policy(layers), tmp_path / name)
            assert complaint in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_other_files(tmp_path: Path) -> None:
    """A file that is missing, too large, of another kind, or no JSON is said to be so."""
    (tmp_path / "large.json").write_bytes(b" " * 4_000_001)
    (tmp_path / "text.json").write_text("layers")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    for name, complaint in (
        ("missing.json", "No such file or directory"),
        ("mine.pt", "is not the file of a policy (allowed: .json, .onnx)"),
        ("large.json", "4,000,001 bytes; a policy may have 4,000,000"),
        ("text.json", "is not JSON"),
        ("deep.json", "is not JSON"),
    ):
        with pytest.raises(ValueError, match=r"^[^\n]*$") as raised:
            read(tmp_path / name)
        assert complaint in str(raised.value)


@given(content=st.binary(max_size=400))
def test_any_bytes_are_no_model(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Bytes that are no model give one line, whatever they are."""
    path = tmp_path_factory.mktemp("policies") / "mine.onnx"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"^[^\n]*$"):
        read(path)


@given(data=st.data())
def test_damaged_models(data: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A model with some bytes changed is read, or refused in one line."""
    path = tmp_path_factory.mktemp("policies") / "mine.onnx"
    write(Policy([Layer([[1.0, 2.0]], [0.5], "tanh")], AGENT), path)
    content = bytearray(path.read_bytes())
    for place, byte in data.draw(
        st.dictionaries(st.integers(0, len(content) - 1), st.integers(0, 255), min_size=1, max_size=4)
    ).items():
        content[place] = byte
    path.write_bytes(content)
    try:
        read(path)
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017 - both outcomes are right
