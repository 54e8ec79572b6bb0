import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from conftest import ROOT, scenario_data
from sojourn.sweep import schema

PUBLISHED = ROOT / "docs" / "scenario.schema.json"


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(published)
    return Draft202012Validator(published)


def test_published_schema_is_current() -> None:
    """docs/scenario.schema.json is what `sojourn schema` prints."""
    assert PUBLISHED.read_text(encoding="utf-8") == schema.text(), "run: sojourn schema > docs/scenario.schema.json"


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_examples_fit_schema(validator: Draft202012Validator, path: Path) -> None:
    """Every example is valid under the published schema."""
    validator.validate(tomllib.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "changes",
    [
        {"warmup": "1 s"},
        {"duration": 4},
        {"duration": "4 parsecs"},
        {"flows": [{"from": "a", "to": "b", "tcp": "newrino"}]},
        {"flows": [{"from": "a", "to": "b", "tcp": {"name": "cubic", "sea": 1}}]},
        {"stack": {"minimum_rto": 1}},
    ],
)
def test_schema_rejects_errors(validator: Draft202012Validator, changes: dict[str, object]) -> None:
    """The schema rejects unknown keys, units and algorithms, and values of the wrong type."""
    validator.validate(scenario_data())
    with pytest.raises(ValidationError):
        validator.validate(scenario_data(**changes))
