"""``make cards``: makes the report cards of algorithms that are deployed, with results in a folder, and keeps what they say."""

import argparse
import sys
from pathlib import Path

from made.cards import DEPLOYED, Answered, write
from sojourn import api, backends
from sojourn.report import card as page
from sojourn.suite import words
from sojourn.suite.library import load


def main() -> int:
    """Carries out the command."""
    parser = argparse.ArgumentParser(prog="make cards")
    parser.add_argument("--results", type=Path, required=True, metavar="DIR", help="where results are kept")
    given = parser.parse_args()
    identity = backends.named(backends.DEFAULT).identity
    answers = []
    for suite, candidates in DEPLOYED.items():
        kind = str(load(suite).kind)
        for candidate in candidates:
            print(f"{suite}: {candidate}", flush=True)
            directory = given.results / suite
            card = api.ask(api.plan_evaluation(candidate, kind, suite, quick=False), out=directory)
            page.write(card, directory, directory / api.CARDS / f"{card.file}.html")
            for row in card.rows:
                found = row.deciding
                shown = (
                    ("", "", "")
                    if found is None
                    else (words.number(row, found.candidate), words.comparators(row, found), words.where(found))
                )
                command = f"sojourn evaluate {kind} {candidate} --full"
                answers.append(Answered(suite, candidate, row.id, row.section, str(row.verdict), *shown, command, str(identity)))
    write(answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
