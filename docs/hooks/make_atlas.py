"""``make atlas``: makes the atlas of docs/atlas.md, with results in a folder, and keeps what it says."""

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from made import atlas
from sojourn import api, digits
from sojourn.atlas import ALONE


def main() -> int:
    """Carries out the command."""
    parser = argparse.ArgumentParser(prog="make atlas")
    parser.add_argument("--results", type=Path, required=True, metavar="DIR", help="where results are kept")
    parser.add_argument("--check", metavar="KERNEL", help="a kernel that is asked about some pairs")
    parser.add_argument("--checks", type=int, metavar="N", help="about how many of each landmark at most")
    parser.add_argument("--ranges", metavar="LANDMARK", help="where the ranges of pairs that are alone are mapped")
    parser.add_argument("--resume", action="store_true", help="go on with what is kept, without the simulator's runs of cells")
    parser.add_argument("--tcp", action="append", metavar="NAME", help="with --resume: make the cells and maps of this one anew")
    parser.add_argument("--publish-only", action="store_true", help="keep what DIR has, and run nothing")
    given = parser.parse_args()
    options = [word for name in ("check", "checks") if (value := getattr(given, name)) for word in (f"--{name}", str(value))]
    commands = [["sojourn", "atlas", *options]]
    if given.ranges:
        commands.append(["sojourn", "atlas", "--landmark", given.ranges, "--beside", ALONE, "--ranges"])
    if given.tcp and not given.resume:
        parser.error("--tcp: needs --resume, which keeps the others")
    if given.resume:
        _resume(given.results, given.check, given.checks, given.ranges, given.tcp)
    elif not given.publish_only:
        for command in commands:
            subprocess.run([sys.executable, "-m", *command, "--out", str(given.results)], check=True)
    atlas.publish(given.results, " && ".join(map(shlex.join, commands)))
    return 0


def _resume(results: Path, check: str | None, checks: int | None, landmark: str | None, tcps: list[str] | None) -> None:
    """Makes some cells anew, asks a kernel and maps ranges, in a directory that begins with what is kept."""
    if not (results / atlas.MADE).is_file():
        atlas.resume(results)
    if tcps:
        for planned, _ in api.survey(api.plan_atlas(tcps=tcps), out=results):
            print(planned.landmark.name, flush=True)
    if check:

        def tell(each: api.PlannedLandmark, state: api.Checks) -> None:
            print(f"{each.landmark.name}: {digits.counted(state.done, 'pair')} asked, {state.left} to go", flush=True)

        api.check_atlas(api.plan_atlas(), check, out=results, most=checks, progress=tell)
    if landmark:
        for each in api.map_atlas(api.plan_atlas([landmark], tcps or (), besides=[ALONE]), out=results):
            print(each.label, flush=True)


if __name__ == "__main__":
    sys.exit(main())
