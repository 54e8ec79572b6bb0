"""Scenarios that are written to another folder than that of their file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn.plugins.source import NAMING_FILES

#: Keys of a scenario that have paths, which are relative to the file that they are in.
PATHS = (*NAMING_FILES, "trace")


def moved(held: Any, old: Path, new: Path) -> Any:
    """Plain data of a scenario with paths that are relative to another folder; both folders are absolute."""
    if isinstance(held, Mapping):
        changed = {key: moved(value, old, new) for key, value in held.items()}
        for key in PATHS:
            if isinstance(held.get(key), str) and not Path(held[key]).is_absolute() and (old / held[key]).exists():
                changed[key] = os.path.relpath(old / held[key], new)
        return changed
    return [moved(each, old, new) for each in held] if isinstance(held, list) else held
