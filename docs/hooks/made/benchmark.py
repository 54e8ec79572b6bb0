"""What ``sojourn bench`` last measured, by the files that it wrote for the repository."""

import json
from functools import cache
from typing import Any

from made.results import ROOT
from sojourn.bench.report import SIGNS, shown

#: Instructions depend on no machine's speed, so that they are counted when the engine changes; seconds want a quiet machine.
FILES = [ROOT / "bench" / name for name in ("measured.json", "instructions.json")]


@cache
def _parts() -> dict[str, dict[str, Any]]:
    """What each part measured, with the machine that did."""
    reports = [json.loads(file.read_text(encoding="utf-8")) for file in FILES]
    return {part["name"]: {**part, "machine": report["machine"]} for report in reports for part in report["parts"]}


def machine(part: str) -> str:
    """The processor, its cores, the engine and the day of a part."""
    found = _parts()[part]["machine"]
    return f"{found['processor']}, {found['cores']} cores; {found['engine']}; {found['date'][:10]}"


def targets(*names: str) -> list[list[str]]:
    """A row for each measurement of these parts that has a target: what was measured, the target, and whether it is met."""
    return [
        [
            part,
            each["name"],
            f"{shown(each['value'])} {each['unit']}",
            f"{SIGNS[each['target']['bound']]} {shown(each['target']['value'])}",
            "" if each["met"] else "missed",
        ]
        for part in names
        for each in _parts()[part]["measurements"]
        if each["target"] is not None
    ]


def shares(part: str, of: str, share: str, below: float, **only: str) -> list[tuple[str, float]]:
    """The rows of a part, those with these values alone, whose share is below a bound; the least first."""
    rows = [row for row in _parts()[part]["rows"] if only.items() <= row.items()]
    found = [(str(row[of]), float(row[share])) for row in rows if row[share] < below]
    return sorted(found, key=lambda each: each[1])
