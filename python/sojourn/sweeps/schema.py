"""The JSON Schema of scenario files, so that editors complete and check them."""

import json
from typing import Any

from sojourn.scenario.choices import SlowStartChoice
from sojourn.sweeps.file import ScenarioFile


def text() -> str:
    """The schema as it is published, ending in a newline."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **ScenarioFile.model_json_schema(by_alias=True)}
    _drop_defaults_in_base_units(schema)
    _define("SlowStartChoice", SlowStartChoice.json_schema(), schema)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _drop_defaults_in_base_units(schema: Any) -> None:
    """Quantities are strings in a file and integers once read, and so are their defaults, which no file could say."""
    if isinstance(schema, dict):
        kinds = [part.get("type") for part in (schema, *schema.get("anyOf", ()))]
        if "string" in kinds and "integer" not in kinds and isinstance(schema.get("default"), int):
            del schema["default"]
        for part in schema.values():
            _drop_defaults_in_base_units(part)
    elif isinstance(schema, list):
        for part in schema:
            _drop_defaults_in_base_units(part)


def _define(name: str, definition: dict[str, Any], schema: dict[str, Any]) -> None:
    """Has the schema refer to what it says at several places, such as what each congestion control may be combined with."""
    referring = _referring(schema["$defs"], definition, {"$ref": f"#/$defs/{name}"})
    schema["$defs"] = dict(sorted({**referring, name: definition}.items()))


def _referring(part: Any, definition: dict[str, Any], reference: dict[str, str]) -> Any:
    if part == definition:
        return reference
    if isinstance(part, dict):
        return {key: _referring(value, definition, reference) for key, value in part.items()}
    if isinstance(part, list):
        return [_referring(each, definition, reference) for each in part]
    return part
