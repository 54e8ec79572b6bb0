"""Report cards on a real kernel: what it can decide is asked, and the card says of how many questions that is."""

import json
from pathlib import Path

import pytest
import tomli_w

from conftest import Capture
from sojourn.cli.commands import status
from sojourn.linux import cache, guest
from sojourn.suite.card import Card
from test_evaluate import KEPT, SHARE, suite

KERNELS = [kernel for kernel in cache.kernels() if kernel.program == guest.program_digest()]

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(not KERNELS, reason="no Linux kernel is built by this version; `sojourn linux build` makes one"),
]

#: The kernel tells no inner state.
STATE = {**KEPT, "id": "state", "scenario": {"probe": {"flow_series": "10 ms", "flow_state": True}}}

#: What a policer drops is not told of flows there, so this question has no loss ratio.
POLICER = {
    "id": "policer",
    "question": "?",
    "section": "4",
    "seeds": 2,
    "rule": "own",
    "metric": "loss_pct",
    "set": {"network.dumbbell.bottleneck.impairments": {"policer": {"rate": "5 Mbit/s", "burst": "20 KiB"}}},
}


def test_a_card_says_what_the_kernel_can_decide(tmp_path: Path, capsys: Capture) -> None:
    """Of four questions the kernel is asked those that it can carry out, and has measured what two of them compare."""
    own = tmp_path / "own.toml"
    own.write_text(tomli_w.dumps(suite({**SHARE, "seeds": 2}, KEPT, POLICER, STATE, comparators=["cubic"])))
    asked = ["evaluate", "tcp", "bbr", "--suite", str(own), "--full", "--out", str(tmp_path / "out")]
    asked += ["--backend", f"linux:{KERNELS[0].name}"]
    assert status([*asked, "--json"]) in (0, 1)
    card = Card.model_validate(json.loads(capsys.readouterr().out))
    assert card.backend == f"linux:{KERNELS[0].name}"
    assert [row.id for row in card.rows] == ["share", "kept"]
    assert {each.id for each in card.left_out if each.undecidable} == {"policer", "state"}
    assert status(asked) in (0, 1)
    said = capsys.readouterr().out
    assert f"linux:{KERNELS[0].name}, which can decide 2 of 4 questions" in said
    assert "does not measure loss_pct there: policer." in said
    assert "the kernel tells no inner states" in said
