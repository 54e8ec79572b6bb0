"""A polars frame as a table, and a table as a frame."""

from collections.abc import Callable, Mapping
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


def to_frame(table: Table) -> "pl.DataFrame":
    """The values of a table as a frame: the same columns as its JSON and CSV have."""
    import polars as pl  # tables are made where nothing needs polars

    if isinstance(table.rows, Frame):
        return table.rows.frame.select(table.names)
    columns = {name: [_plain(row[name]) for row in table.rows] for name in table.names}
    return pl.DataFrame({name: pl.Series(name, values, strict=False) for name, values in columns.items()})


def _plain(value: object) -> object:
    """A value that a column can hold."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {held}" for key, held in value.items())
    return value if value is None or isinstance(value, bool | int | float | list) else str(value)


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
