"""``make atlas``: makes the atlas of docs/atlas.md, with results in a folder, and keeps what it says."""

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from made import atlas


def main() -> int:
    """Carries out the command."""
    parser = argparse.ArgumentParser(prog="make atlas")
    parser.add_argument("--results", type=Path, required=True, metavar="DIR", help="where results are kept")
    parser.add_argument("--check", metavar="KERNEL", help="a kernel that is asked about some pairs")
    parser.add_argument("--checks", metavar="N", help="about how many of each landmark at most")
    parser.add_argument("--ranges", metavar="LANDMARK", help="where the ranges of pairs that are alone are mapped")
    parser.add_argument("--resume", action="store_true", help="let DIR begin with what is kept, and run nothing")
    parser.add_argument("--publish-only", action="store_true", help="keep what DIR has, and run nothing")
    given = parser.parse_args()
    if given.resume:
        atlas.resume(given.results)
        return 0
    options = [word for name in ("check", "checks") if (value := getattr(given, name)) for word in (f"--{name}", value)]
    commands = [["sojourn", "atlas", *options]]
    if given.ranges:
        commands.append(["sojourn", "atlas", "--landmark", given.ranges, "--beside", "alone", "--ranges"])
    for command in [] if given.publish_only else commands:
        subprocess.run([sys.executable, "-m", *command, "--out", str(given.results)], check=True)
    atlas.publish(given.results, " && ".join(map(shlex.join, commands)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
