"""The laboratory without a browser: the page's own modules and engine in Node, if `make lab` has built them."""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sojourn import _engine

LAB = Path(__file__).parents[1] / "lab"
PAGE = LAB / "dist" / "laboratory.html"

#: Why its tests are skipped, if they are.
MISSING = None if PAGE.is_file() and shutil.which("node") else "the laboratory is not built (make lab)"


class Refused(Exception):
    """The page would say this, instead of doing what it was asked for."""


class Headless:
    """A process of Node that answers what the page would."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            ["node", str(LAB / "headless.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def ask(self, request: str, **given: Any) -> Any:
        """The answer to a request.

        Raises:
            Refused: there is none, but a sentence.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"request": request, **given}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "problem" in answer:
            raise Refused(answer["problem"])
        return answer["answer"]

    @classmethod
    @contextmanager
    def of_engine(cls) -> "Iterator[Headless]":
        """One that has the engine that Python has, or the test is skipped: the page was built of other sources."""
        with closing(cls()) as headless:
            if headless.ask("catalogue")["digest"] != _engine.digest():
                pytest.skip("the laboratory is of other sources than the engine (make setup lab)")
            yield headless

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()


def column(text: str, kind: str = "f8") -> NDArray[Any]:
    """A column of a run."""
    return np.frombuffer(base64.b64decode(text), dtype=f"<{kind}")
