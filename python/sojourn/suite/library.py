"""The suites that come with Sojourn, and users' own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sojourn import names
from sojourn.errors import InputError, within
from sojourn.scenario import read_toml
from sojourn.scenario.problems import describe
from sojourn.statistics import fewest_for_a_majority
from sojourn.study import asking
from sojourn.suite import contenders
from sojourn.suite.design import Kind, Suite

#: Where the suites are that come with Sojourn, and the file that each is.
FOLDER = Path(__file__).parents[1] / "suites"
FILE = "suite.toml"

#: The suite of each kind that is taken unless another is named.
DEFAULT = {Kind.TCP: "rfc9743", Kind.QUEUE: "rfc7928"}


def available() -> list[str]:
    """The names of the suites that come with Sojourn."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{FILE}"))


def is_path(suite: str) -> bool:
    """Whether this is the path of a suite of one's own, a folder or a file, rather than a name."""
    return suite not in available() and ("/" in suite or suite.endswith(".toml") or Path(suite).is_dir())


def load(suite: str | Path | Mapping[str, Any] | Suite) -> Suite:
    """A suite by its name, one's own by the path of its folder or file, or what such a file says; one that is read already.

    Raises:
        InputError: there is no such suite, or it makes no sense; one line that names file and key.
    """
    if isinstance(suite, Suite):
        return suite
    if isinstance(suite, Mapping):
        return _read(suite, "the suite", Path(FILE))
    if is_path(str(suite)):
        path = Path(suite)
        path = path if path.is_file() else path / FILE
        if not path.is_file():
            raise InputError(f"{suite}: is not a suite; a suite is a folder with {FILE}, or such a file")
    elif str(suite) in available():
        path = FOLDER / str(suite) / FILE
    else:
        raise InputError(f"{names.unknown('suite', str(suite), available())}; one of your own is given by its path")
    return _read(read_toml(path), str(path), path)


def _read(data: Mapping[str, Any], origin: str, path: Path) -> Suite:
    if "questions" not in data:
        raise InputError(f"{origin}: is no suite: it has no questions")
    try:
        return Suite.of(data).at(path)
    except ValidationError as error:
        raise InputError(f"{origin}: {describe(error)}") from None


def check(suite: Suite) -> None:
    """Checks that each question makes scenarios and can be decided: its query can be asked, and it has seeds enough.

    Raises:
        InputError: one cannot; one line that names the question.
    """
    standard = contenders.Contender.of(suite.kind, suite.comparators[0])
    for question in suite.questions:
        place = f"suite {suite.name}: question {question.id}"
        with within(place, InputError):
            contenders.check_ranges(question)
        matrix = contenders.matrix(suite, question, standard)
        for each in contenders.comparators(suite, question):
            contenders.check_states(suite, question, each)
        if question.quick is not None:
            with within(f"{place}: quick", InputError):
                matrix.sweep.meant("select", question.quick.select)
        query = suite.query_of(question)
        if query is not None:
            asking.bind(list(matrix.axes), {place: query})
            least, seeds = fewest_for_a_majority(), suite.seeds_of(question)
            if seeds < least:
                raise InputError(f"{place}: seeds: {seeds}: no rule of a query decides with fewer than {least}")
        elif suite.seeds_of(question) < 2:
            raise InputError(f"{place}: seeds: 1: no rule of a metric decides with fewer than 2")
