"""The JSON Schema of scenario files, so that editors complete and check them."""

import json

from sojourn.scenario.model import Scenario


def text() -> str:
    """The schema as it is published, ending in a newline."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Scenario.model_json_schema(by_alias=True)}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
