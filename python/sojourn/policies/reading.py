"""Reads the file of a policy."""

import json
from functools import lru_cache
from pathlib import Path

from sojourn.policies.model import AGENT, LAYERS, Layer, Policy, check

#: The endings of files of policies.
ENDINGS = (".json", ".onnx")

#: The most bytes of a file: as many as text of 100,000 numbers takes, which is the most that a network may have.
LARGEST = 4_000_000


def read(path: str | Path) -> Policy:
    """Reads a policy from JSON or ONNX.

    Raises:
        ValueError: it is none; one line that says what is wrong and what is allowed.
    """
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise ValueError(f'"{path.name}" is not the file of a policy (allowed: {", ".join(ENDINGS)})')
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f'"{path}": {error.strerror}') from None
    if len(content) > LARGEST:
        raise ValueError(f'"{path.name}": {len(content):,} bytes; a policy may have {LARGEST:,}')
    try:
        return _parsed(path.suffix, content)
    except ValueError as error:
        raise ValueError(f'"{path.name}": {error}') from None


@lru_cache(maxsize=32)
def _parsed(ending: str, content: bytes) -> Policy:
    """Each cell of a sweep comes here."""
    if ending == ".json":
        return _of_json(content)
    from sojourn.policies import onnx

    return onnx.read(content)


def _of_json(content: bytes) -> Policy:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not JSON: {error}") from None
    check(text)
    data = json.loads(text)
    return Policy([Layer(**layer) for layer in data[LAYERS]], data.get(AGENT, {}))
