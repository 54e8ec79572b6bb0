"""What tshark reads in captures."""

import csv
import shutil
import subprocess
from pathlib import Path

import pytest

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed: captures are not checked")


def frames(capture: Path, what: str, *fields: str) -> list[dict[str, str]]:
    """Returns some fields of the frames of a capture that match a filter; several values are joined by commas."""
    command = ["tshark", "-N", "n", "-r", str(capture), "-2", "-T", "fields", "-E", "header=y", "-E", "separator=;", "-Y", what]
    for checked in ("ip", "tcp", "udp"):
        command += ["-o", f"{checked}.check_checksum:TRUE"]
    for field in ("frame.number", *fields):
        command += ["-e", field]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    return list(csv.DictReader(shown.stdout.splitlines(), delimiter=";"))
