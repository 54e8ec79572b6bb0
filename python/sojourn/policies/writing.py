"""Writes the file of a policy."""

import json
from pathlib import Path

from sojourn.policies.model import AGENT, Policy, checked
from sojourn.policies.reading import ENDINGS


def write(policy: Policy, path: str | Path) -> None:
    """Writes a policy as JSON or ONNX, by the ending of the file's name. In ONNX numbers have single precision.

    Raises:
        ValueError: the layers do not fit, the file's name has another ending, or the package ``onnx`` is missing.
        OSError: the file cannot be written.
    """
    path = Path(path)
    checked(policy)
    if path.suffix == ".json":
        data = {AGENT: dict(policy.agent), **policy.as_json()}
        path.write_text(json.dumps(data) + "\n", encoding="utf-8")
    elif path.suffix == ".onnx":
        from sojourn.policies import onnx

        path.write_bytes(onnx.model_of(policy).SerializeToString())
    else:
        raise ValueError(f'"{path.name}" is not the file of a policy (allowed: {", ".join(ENDINGS)})')
