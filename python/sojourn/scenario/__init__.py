"""Scenario files: what to simulate, in TOML with units, checked before anything runs."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sojourn.errors import InputError
from sojourn.scenario.model import Scenario
from sojourn.scenario.problems import describe, output
from sojourn.scenario.reading import Shared

#: How deeply tables and lists of a file may be nested; no key needs ten levels.
MOST_LEVELS = 50


def from_data(data: Mapping[str, Any], origin: str, folder: Path | None = None, shared: Shared | None = None) -> Scenario:
    """Checks a scenario given as plain data, such as a parsed TOML file; ``origin`` is what errors call it.

    Paths in it are relative to ``folder``, or to the current folder. What is alike in scenarios with the same ``shared`` is read
    once.
    """
    try:
        return Scenario.of(data, folder, shared)
    except ValidationError as error:
        wrong = InputError(f"{origin}: {describe(error)}")
        wrong.output = output(error)
        raise wrong from None


def parsed(text: str) -> dict[str, Any]:
    """The contents of a text in TOML.

    Raises:
        ValueError: it is none (``TOMLDecodeError``), or is nested too deeply for whatever reads it.
    """
    too_deep = f"tables and lists are nested too deeply; at most {MOST_LEVELS} levels"
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise ValueError(too_deep) from None
    level: list[Any] = [data]
    for _ in range(MOST_LEVELS):
        level = [each for held in level for each in (held.values() if isinstance(held, dict) else held)]
        level = [each for each in level if isinstance(each, dict | list)]
        if not level:
            return data
    raise ValueError(too_deep)


def read_toml(path: Path) -> dict[str, Any]:
    """The contents of a TOML file."""
    try:
        return parsed(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); scenario files must be TOML in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
