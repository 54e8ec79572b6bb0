"""Writes what is made into all pages (``make docs-numbers``).

    python docs/hooks/made [--check] [STUDY | STUDY:CAMPAIGN ...]

Without names, what takes long comes from the records. With names, those studies are run first, or as much as their results lack.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from made import records
from made.pages import Page, pages
from made.results import ROOT


def main() -> int:
    """Carries out the command."""
    parser = argparse.ArgumentParser(prog="make docs-numbers")
    parser.add_argument("campaigns", nargs="*", metavar="STUDY[:CAMPAIGN]", help="studies to be run")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a page is not as it is made")
    parser.add_argument("--results", type=Path, default=ROOT / "results", metavar="DIR", help="where results of studies are kept")
    given = parser.parse_args()
    known = records.available()
    for each in given.campaigns:
        name, _, campaign = each.partition(":")
        if name not in known or (campaign and campaign not in known[name].campaigns):
            parser.error(f"{each}: no such record; there are {', '.join(known)}")
        for wanted in [campaign] if campaign else known[name].campaigns:
            print(f"{name}: {known[name].campaigns[wanted].command}", flush=True)
            known[name].campaigns[wanted].make(given.results)
    wrong = failed = False
    for path in pages():
        page = Page(path, known)
        made = page.made()
        for problem in made.failures:
            failed = True
            print(f"{page.name}:{problem.line}: {problem.text}", file=sys.stderr)
        for problem in made.waiting:
            print(f"{page.name}:{problem.line}: {problem.text}", file=sys.stderr)
        for difference in made.differences:
            wrong = True
            print(f"{page.name}:{difference.line}: {difference.text}")
        if not given.check:
            path.write_text(made.text, encoding="utf-8")
        for picture, drawn in page.pictures.items():
            if not picture.exists() or picture.read_bytes() != drawn:
                wrong = True
                print(f"{picture.relative_to(ROOT)}: another picture is made")
                if not given.check:
                    picture.write_bytes(drawn)
    for name in dict.fromkeys(each.partition(":")[0] for each in given.campaigns):
        known[name].write()
    for line in records.stale():
        print(line)
    return 1 if failed or (given.check and wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
