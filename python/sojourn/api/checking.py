"""What a file is that may be checked: a scenario, a study, a suite, or an algorithm of one's own."""

from enum import StrEnum
from pathlib import Path

from sojourn import policies
from sojourn.errors import InputError
from sojourn.plugins import source
from sojourn.scenario import read_toml
from sojourn.study import library as studies
from sojourn.suite import library as suites


class FileKind(StrEnum):
    """What a file is."""

    OWN = "algorithm"
    SUITE = "suite"
    STUDY = "study"
    SCENARIO = "scenario"


def kind_of(file: Path) -> FileKind:
    """What a file is, or a folder, or what has that name.

    Raises:
        InputError: it cannot be read, or is a policy.
    """
    if source.language_of(file) is not None:
        return FileKind.OWN
    if file.suffix in policies.ENDINGS:
        raise InputError(f"{file}: is a policy, which sojourn describe reads")
    if not file.is_file():
        if str(file) in suites.available() or (file / suites.FILE).is_file():
            return FileKind.SUITE
        return FileKind.STUDY if file.is_dir() or str(file) in studies.available() else FileKind.SCENARIO
    said = read_toml(file)
    if "questions" in said:
        return FileKind.SUITE
    return FileKind.STUDY if isinstance(said.get("scenario"), dict) else FileKind.SCENARIO
