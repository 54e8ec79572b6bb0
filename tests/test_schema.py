import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from conftest import ROOT, scenario_data
from sojourn.sweeps import schema

PUBLISHED = ROOT / "docs" / "scenario.schema.json"


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(published)
    return Draft202012Validator(published)


def test_published_schema_is_current() -> None:
    """docs/scenario.schema.json is what `sojourn schema` prints."""
    assert PUBLISHED.read_text(encoding="utf-8") == schema.text(), "run: sojourn schema > docs/scenario.schema.json"


EXAMPLES = sorted(path for folder in ("examples", "examples/programs") for path in (ROOT / folder).glob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
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


def test_schema_says_each_table_once() -> None:
    """A table that stands at several keys, such as a distribution, is defined once; the keys refer to it."""

    def titles(part: object) -> list[str]:
        if isinstance(part, dict):
            own = [part["title"]] if part.get("type") == "object" and "title" in part else []
            return own + [title for value in part.values() for title in titles(value)]
        return [title for value in part for title in titles(value)] if isinstance(part, list) else []

    found = titles(json.loads(PUBLISHED.read_text(encoding="utf-8")))
    often = {title for title in found if found.count(title) > 1}
    assert "Sizes" in found
    # One for queues and another for congestion controls.
    assert often == {"Your own algorithm"}


def test_distributions_fit_schema(validator: Draft202012Validator) -> None:
    """A size may be a quantity or a distribution, wherever there is one, and nothing else."""
    flow = {"from": "a", "to": "b", "tcp": "newreno", "start": "0 s"}
    sizes = {"distribution": "exponential", "mean": "1 kB"}
    page = {"objects": 3, "size": sizes}
    validator.validate(scenario_data(flows=[{**flow, "page": page}, {**flow, "periodic": {"size": "1 kB", "every": "1 s"}}]))
    for wrong in ({"distribution": "normal"}, 1000, {**sizes, "mean": 1000}):
        with pytest.raises(ValidationError):
            validator.validate(scenario_data(flows=[{**flow, "page": {**page, "size": wrong}}]))
