"""The studies that come with Sojourn: a folder each, holding ``study.toml``, published values, and claims.

What reads them is loaded when one is read: to list them takes little.
"""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import names
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.study.claims import Claim
    from sojourn.study.design import Study
    from sojourn.study.published import PublishedValue

#: In a clone this is a link to the top-level folder ``studies``; an installed package holds the files themselves.
FOLDER = Path(__file__).parents[1] / "studies"

CLAIMS = "claims.toml"


def available() -> list[str]:
    """The names of all studies."""
    return sorted(path.parent.name for path in FOLDER.glob("*/study.toml"))


def papers() -> list[str]:
    """The names of the studies of papers: those with claims."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{CLAIMS}"))


def contents(name: str) -> dict[str, Any]:
    """What ``study.toml`` of a study says, unchecked."""
    return tomllib.loads((FOLDER / name / "study.toml").read_text(encoding="utf-8"))


def load(name: str) -> "Study":
    """A study by name.

    Raises:
        InputError: there is none of that name, or its file is wrong.
    """
    from pydantic import ValidationError

    from sojourn.scenario import read_toml
    from sojourn.scenario.problems import describe
    from sojourn.study.design import Study

    if name not in available():
        raise InputError(names.unknown("study", name, available()))
    path = FOLDER / name / "study.toml"
    try:
        return Study.of(read_toml(path))
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error)}") from None


def published_values(study: "Study") -> "list[PublishedValue]":
    """The values of a study's tables: the published ones, or if there are none those to be measured.

    Raises:
        InputError: no run answers a published value.
    """
    from sojourn.study.published import read, unpublished

    if study.published is None:
        return unpublished(study)
    return read(FOLDER / study.name / study.published.file, study, study.published)


def claims(study: "Study") -> "list[Claim]":
    """The claims of a study; none if it has no such file.

    Raises:
        InputError: the file is wrong; queries are not looked at.
    """
    from sojourn.study.claims import read

    path = FOLDER / study.name / CLAIMS
    return read(path, study) if path.exists() else []
