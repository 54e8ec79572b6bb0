"""What a table is: rows of values at full precision, and columns that show them."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from rich.text import Text

from sojourn import digits

if TYPE_CHECKING:
    import polars as pl

Row: TypeAlias = Mapping[str, Any]

#: What stands for a value that is not there.
MISSING = "-"

#: Rows that are printed at most: a terminal is no place for thousands.
MOST_ROWS = 200


class Rows(Protocol):
    """Rows that can be counted, and gone through more than once."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Row]: ...


class Frame:
    """The rows of a polars frame, made one by one: those of a large sweep would take much memory."""

    def __init__(self, frame: "pl.DataFrame") -> None:
        self.frame = frame

    def __len__(self) -> int:
        return self.frame.height

    def __iter__(self) -> Iterator[Row]:
        return self.frame.iter_rows(named=True)


class Content(StrEnum):
    """What a column holds, by which it gives way where there is little room."""

    #: Neither cut nor wrapped.
    NUMBER = "number"
    #: A name; folded only where numbers would find no room.
    LABEL = "label"
    #: Words; wrapped.
    TEXT = "text"


@dataclass(frozen=True)
class Column:
    """A column as people see it, and the values behind it."""

    heading: str
    #: The values that it shows, as JSON and CSV call them.
    names: Sequence[str]
    show: Callable[[Row], str | Text]
    content: Content
    #: Left out only if nothing else can be.
    keep: bool = False
    #: Where there is no room for all, columns of a higher rank are left out first, and of the same rank the last.
    rank: int = 0


@dataclass(frozen=True)
class Table:
    """A table."""

    #: What JSON and CSV call it beside other tables.
    name: str
    #: What stands above it on a terminal.
    title: str
    columns: Sequence[Column]
    rows: Rows
    #: What stands below it on a terminal.
    notes: Sequence[str] = ()
    #: A rule is drawn where this changes from row to row.
    section: Callable[[Row], object] | None = None
    #: Values that only JSON and CSV have, after the others.
    beside: Sequence[str] = ()
    #: The most rows that are printed, or none for all of them; JSON and CSV always have all.
    most_rows: int | None = MOST_ROWS
    #: Whether a terminal gets the first column alone, a line a row, as sentences.
    sentences: bool = False

    @property
    def names(self) -> list[str]:
        """The names of all values, in the order of the columns."""
        return [*(name for column in self.columns for name in column.names), *self.beside]


#: A table, or the tables of a command that may have several.
Tables: TypeAlias = Table | Sequence[Table]


def label(name: str, heading: str = "", *, keep: bool = False, rank: int = 0) -> Column:
    """A column of names."""
    return Column(heading or name, (name,), lambda row: _word(row[name]), Content.LABEL, keep, rank)


def text(name: str, heading: str = "", *, keep: bool = False, rank: int = 0) -> Column:
    """A column of words, or of lists of them."""
    return Column(heading or name, (name,), lambda row: _word(row[name]), Content.TEXT, keep, rank)


def number(
    name: str, heading: str = "", show: Callable[[Any], str] = str, *, keep: bool = False, rank: int = 0, missing: str = MISSING
) -> Column:
    """A column of numbers; ``show`` formats one."""

    def shown(row: Row) -> str:
        return missing if row[name] is None else show(row[name])

    return Column(heading or name, (name,), shown, Content.NUMBER, keep, rank)


def measured(
    name: str,
    heading: str,
    show: Callable[[float], str],
    factor: float = 1,
    *,
    rank: int = 0,
    marked: Container[float] = (),
) -> Column:
    """A column of means, each with its 95 % interval, the ends of which are ``NAME_ci_low`` and ``NAME_ci_high``.

    A star stands before those means that are ``marked``.

    The interval says how many digits are shown. Where there is none, ``show`` does; it multiplies by ``factor`` too.
    """
    low, high = f"{name}_ci_low", f"{name}_ci_high"

    def shown(row: Row) -> str:
        mean, least, greatest = row[name], row[low], row[high]
        if mean is None:
            return MISSING
        star = "* " if mean in marked else ""
        if least is None or greatest is None:
            return f"{star}{show(mean)}"
        ends = least * factor, greatest * factor
        return star + " ".join(digits.with_interval(mean * factor, *ends, lambda value: show(value / factor)))

    return Column(heading, (name, low, high), shown, Content.NUMBER, rank=rank)


def _word(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
