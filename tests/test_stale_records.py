"""Which records of what takes long were made by another engine. It skips, so that pytest says so, and so runs each time."""

import pytest

from made import records


def test_records_are_of_this_engine() -> None:
    """Records of studies are of the present engine; those that are not are named, which is no failure."""
    if stale := records.stale():
        pytest.skip("; ".join(stale))
