"""A polars frame as a table."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sojourn.table.model import MOST_ROWS, Column, Content, Frame, Row, Table

if TYPE_CHECKING:
    import polars as pl

#: Longer text is wrapped where there is little room.
LONGEST_NAME = 24


def of_frame(name: str, frame: "pl.DataFrame", most_rows: int | None = MOST_ROWS) -> Table:
    """A table of all columns of a frame, the first of which are the last to be left out."""
    columns = [Column(each, (each,), _shown(each), _content(frame[each])) for each in frame.columns]
    return Table(name, "", columns, Frame(frame), most_rows=most_rows)


def _content(values: "pl.Series") -> Content:
    if values.dtype.is_numeric():
        return Content.NUMBER
    longest = max((len(str(value)) for value in values.head(MOST_ROWS)), default=0)
    return Content.TEXT if longest > LONGEST_NAME else Content.LABEL


def _shown(name: str) -> Callable[[Row], str]:
    """Numbers have six digits: JSON and CSV have them all."""

    def shown(row: Row) -> str:
        value = row[name]
        return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)

    return shown
