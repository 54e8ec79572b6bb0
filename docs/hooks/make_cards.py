"""``make cards``: makes the report cards of algorithms that are deployed, with results in a folder, and keeps what they say."""

import argparse
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from made.cards import DEPLOYED, MODULES, SUITES, Answered, recorded, write
from made.results import ROOT
from sojourn import api, backends
from sojourn.bench.history import SOURCES, git
from sojourn.report import card as page
from sojourn.suite import words
from sojourn.suite.design import Kind
from sojourn.suite.library import DEFAULT, load


def main() -> int:
    """Carries out the command."""
    parser = argparse.ArgumentParser(prog="make cards")
    parser.add_argument("--results", type=Path, required=True, metavar="DIR", help="where results are kept")
    parser.add_argument("--modules", type=Path, metavar="DIR", help="a folder with modules of Linux to evaluate as well")
    given = parser.parse_args()
    try:
        files, commit = modules(given.modules), _commit()
    except ValueError as error:
        print(f"make cards: {error}", file=sys.stderr)
        return 2
    answers: list[Answered] = []
    for suite in SUITES:
        kind = str(load(suite).kind)
        candidates: list[str | Path] = [*DEPLOYED.get(suite, ()), *(file for file in files if MODULES[file.name].suite == suite)]
        for candidate in candidates:
            answers += _answers(suite, kind, candidate, given.results / suite, commit)
    of_files = {path.name for path in files}
    answers += [each for each in recorded() if each.candidate in MODULES and each.candidate not in of_files]
    write(answers)
    return 0


def _answers(suite: str, kind: str, candidate: str | Path, directory: Path, commit: str) -> Iterator[Answered]:
    """The card of a candidate, question by question."""
    name = candidate if isinstance(candidate, str) else candidate.name
    print(f"{suite}: {name}", flush=True)
    identity = backends.named(backends.DEFAULT).identity
    card = api.ask(api.plan_evaluation(candidate, kind, suite, quick=False), out=directory)
    page.write(card, directory, directory / api.CARDS / f"{card.file}.html")
    for row in card.rows:
        found = row.deciding
        shown = (
            ("", "", "")
            if found is None
            else (words.number(row, found.candidate), words.comparators(row, found), words.where(found))
        )
        named = "" if suite == DEFAULT[Kind(kind)] else f" --suite {suite}"
        command = f"sojourn evaluate {kind} {name}{named} --full"
        yield Answered(suite, name, row.id, row.section, str(row.verdict), *shown, command, str(identity), commit)


def _commit() -> str:
    """The commit that is checked out.

    Raises:
        ValueError: what makes the cards is not as the commit has it.
    """
    commit = git(ROOT, "rev-parse", "--short=12", "HEAD").strip()
    changed = git(ROOT, "status", "--porcelain", "--", *SOURCES, "python/sojourn", "suites").split()
    if changed:
        raise ValueError(f"{changed[1]} is not as the commit {commit} has it; commit it first")
    return commit


def modules(folder: Path | None) -> list[Path]:
    """The modules that are in a folder.

    Raises:
        ValueError: one of them is another file.
    """
    if folder is None:
        return []
    for name, module in MODULES.items():
        path = folder / name
        if not path.is_file():
            raise ValueError(f"--modules {folder}: has no {name}; it is in {module.repository}")
        if hashlib.sha256(path.read_bytes()).hexdigest() != module.sha256:
            raise ValueError(f"{path}: is not that of commit {module.commit} of {module.repository}")
        if module.shows is not None:
            shows = folder / Path(module.shows).name
            if not shows.is_file() or shows.read_bytes() != (ROOT / module.shows).read_bytes():
                raise ValueError(f"{path}: needs {module.shows} beside it")
    return [folder / name for name in MODULES]


if __name__ == "__main__":
    sys.exit(main())
