"""The JSON Schema of scenario files, so that editors complete and check them."""

import json
from typing import Any

from sojourn.sweep.file import ScenarioFile


def text() -> str:
    """The schema as it is published, ending in a newline."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **ScenarioFile.model_json_schema(by_alias=True)}
    _drop_defaults_in_base_units(schema)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _drop_defaults_in_base_units(schema: Any) -> None:
    """Quantities are strings in a file and integers once read, and so are their defaults, which no file could say."""
    if isinstance(schema, dict):
        if schema.get("type") == "string" and isinstance(schema.get("default"), int):
            del schema["default"]
        for part in schema.values():
            _drop_defaults_in_base_units(part)
    elif isinstance(schema, list):
        for part in schema:
            _drop_defaults_in_base_units(part)
