"""What make packetdrill does: gets the scripts that others have written, runs them, and notes the day in packetdrill.toml."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from conftest import ROOT

LIST = ROOT / "tests" / "packetdrill.toml"
SCRIPTS = ROOT / "target" / "packetdrill"


def git(folder: Path, *arguments: str) -> bool:
    """Carries out a command of git, which says itself what fails; whether it did not."""
    return subprocess.run(["git", "-C", str(folder), *arguments], check=False).returncode == 0


def get(collection: Mapping[str, str]) -> bool:
    """Gets a collection's folder as it was at its commit, and nothing else of its repository; whether that could be done."""
    into, commit = SCRIPTS / collection["name"], collection["commit"]
    into.mkdir(parents=True, exist_ok=True)
    if not (into / ".git").exists():
        git(into, "init", "--quiet")
    head = into / ".git" / "HEAD"
    if head.read_text(encoding="ascii").strip() == commit:
        return True
    return (
        git(into, "sparse-checkout", "set", collection["folder"])
        and git(into, "fetch", "--quiet", "--depth=1", "--filter=blob:none", collection["repository"], commit)
        and git(into, "checkout", "--quiet", commit)
    )


def counted(text: str, name: str, day: str) -> str:
    """The list with the day on which a collection was counted."""
    return re.sub(rf'(name = "{name}"\n(?:.+\n)*?folder = .*\n)(?:counted = .*\n)?', rf"\g<1>counted = {day}\n", text)


def main() -> int:
    """Counts what can be had; the exit status is 1 if something cannot, or has another verdict than the list says."""
    collections = tomllib.loads(LIST.read_text(encoding="utf-8"))["collection"]
    had = [each["name"] for each in collections if get(each)]
    for each in collections:
        if each["name"] not in had:
            print(f"make packetdrill: {each['name']}: {each['repository']} cannot be had", file=sys.stderr)
    environment = os.environ | {"SOJOURN_PACKETDRILL": str(SCRIPTS)}
    command = [sys.executable, "-m", "pytest", "-m", "packetdrill", str(ROOT / "tests" / "test_packetdrill.py")]
    if subprocess.run(command, env=environment, check=False).returncode != 0:
        return 1
    text, today = LIST.read_text(encoding="utf-8"), datetime.now(UTC).date().isoformat()
    for name in had:
        text = counted(text, name, today)
    LIST.write_text(text, encoding="utf-8")
    return int(len(had) < len(collections))


if __name__ == "__main__":
    sys.exit(main())
