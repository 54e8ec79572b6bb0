"""The studies that come with Sojourn: a folder each, holding ``study.toml`` and the published figures."""

from pathlib import Path

from pydantic import ValidationError

from sojourn import names
from sojourn.errors import InputError
from sojourn.scenario import read_toml
from sojourn.scenario.problems import describe
from sojourn.study.design import Study
from sojourn.study.published import Figure, read, unpublished

#: In a clone this is a link to the top-level folder ``studies``; an installed package holds the files themselves.
FOLDER = Path(__file__).parents[1] / "studies"


def available() -> list[str]:
    """The names of all studies."""
    return sorted(path.parent.name for path in FOLDER.glob("*/study.toml"))


def load(name: str) -> Study:
    """A study by name.

    Raises:
        InputError: there is none of that name, or its file is wrong.
    """
    if name not in available():
        raise InputError(names.unknown("study", name, available()))
    path = FOLDER / name / "study.toml"
    try:
        return Study.of(read_toml(path))
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error)}") from None


def figures(study: Study) -> list[Figure]:
    """The figures of a study's tables: the published ones, or if there are none those to be measured."""
    if study.published is None:
        return unpublished(study)
    return read(FOLDER / study.name / study.published.file, study, study.published)
