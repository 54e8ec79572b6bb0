"""Studies: those that come with Sojourn by name, one's own by path. Each is a folder: ``study.toml``, published values, claims.

What reads them is loaded when one is read: to list them takes little.
"""

import shlex
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

FILE = "study.toml"

CLAIMS = "claims.toml"


def available() -> list[str]:
    """The names of all studies."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{FILE}"))


def papers() -> list[str]:
    """The names of the studies of papers: those with claims."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{CLAIMS}"))


def contents(name: str) -> dict[str, Any]:
    """What ``study.toml`` of a study that comes with Sojourn says, unchecked."""
    return tomllib.loads((FOLDER / name / FILE).read_text(encoding="utf-8"))


def is_path(study: str) -> bool:
    """Whether this is the path of a study of one's own, a folder or a file, rather than a name.

    A name of one that comes with Sojourn is no path, even if there is a folder of that name; ``./name`` is.
    """
    if study in available():
        return False
    return "/" in study or study.endswith(".toml") or Path(study).is_dir()


def exists(study: str) -> bool:
    """Whether there is a study of this name, or a file of this path."""
    return Path(study).is_file() if is_path(study) else study in available()


def load(study: str) -> "Study":
    """A study by its name, or one's own by the path of its folder or file."""
    from pydantic import ValidationError

    from sojourn.scenario import read_toml
    from sojourn.scenario.problems import describe
    from sojourn.study.design import Origin, Study

    if is_path(study):
        path = Path(study)
        if not path.is_file():
            path /= FILE
            if not path.is_file():
                raise InputError(f"{study}: is not a study; a study is a folder with {FILE}, or such a file")
        place = str(path.resolve())
    elif study in available():
        path, place = FOLDER / study / FILE, study
    else:
        raise InputError(f"{names.unknown('study', study, available())}; one of your own is given by its path")
    data = read_toml(path)
    if "scenario" not in data and "network" in data:
        raise InputError(f"{path}: is a scenario; write sojourn run {shlex.quote(study)}")
    try:
        return Study.of(data).at(Origin(path, study, place))
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error)}") from None


def published_values(study: "Study") -> "list[PublishedValue]":
    """The values of a study's tables: the published ones, or if there are none those to be measured."""
    from sojourn.study.published import read, unpublished

    if study.published is None:
        return unpublished(study)
    return read(study.origin.folder / study.published.file, study, study.published)


def claims(study: "Study") -> "list[Claim]":
    """The claims of a study; none if it has no such file."""
    from sojourn.study.claims import read

    path = study.origin.folder / CLAIMS
    return read(path, study) if path.exists() else []
