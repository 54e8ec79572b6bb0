"""Which columns of a table a width has room for, and how wide each is."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from sojourn.table.model import Column, Content

#: Characters around each column, and one more at the end: borders and padding.
FRAME = 3

#: The narrowest text, and the narrowest name that is folded.
NARROW_TEXT, NARROW_LABEL = 16, 8

#: Longer words of headings are folded.
LONGEST_WORD = 15

#: The least number of optional columns: rather than leave out more, names are folded.
LEAST_VALUES = 2


@dataclass(frozen=True)
class Shown:
    """A column whose cells have been made."""

    column: Column
    cells: Sequence[Text]

    @property
    def widest(self) -> int:
        """The width of its widest cell."""
        return max((max(map(cell_len, cell.plain.split("\n"))) for cell in self.cells), default=0)

    @property
    def natural(self) -> int:
        """The width at which nothing of it is wrapped."""
        return max(self.widest, *map(cell_len, self.column.heading.split("\n")))

    @property
    def least(self) -> int:
        """The width that it needs."""
        cells = min(self.widest, NARROW_TEXT) if self.column.content is Content.TEXT else self.widest
        word = max((cell_len(word) for word in self.column.heading.split()), default=0)
        return max(cells, min(word, LONGEST_WORD))

    @property
    def folded(self) -> int:
        """The width that it needs if names are folded."""
        return self.least if self.column.content is Content.NUMBER else min(self.least, NARROW_LABEL)

    @property
    def is_constant(self) -> bool:
        """Whether it is to be kept, but has the same in several rows and could as well stand below them."""
        several = len(self.cells) > 1 and self.column.keep and self.column.content is not Content.TEXT
        return several and len({cell.plain for cell in self.cells}) == 1 and bool(self.cells[0].plain)


@dataclass(frozen=True)
class Layout:
    """The columns that are shown with their widths, those that say the same in all rows, and those that are left out."""

    columns: Sequence[tuple[Shown, int]]
    constant: Sequence[Shown]
    left_out: Sequence[Shown]


def lay_out(columns: Sequence[Shown], width: int | None) -> Layout:
    """Fits columns into a width; all of them have room without one.

    What says the same in all rows leaves first, then the columns of the highest rank; numbers are never cut. With nothing more to
    leave out names are folded, and if that is not enough the table is wider than asked for.
    """
    if width is None:
        return Layout([(column, column.natural) for column in columns], [], [])
    kept, constant, left_out = list(columns), list[Shown](), list[Shown]()
    for column in columns:
        if _needed(kept) > width and column.is_constant and len(kept) > 1:
            kept.remove(column)
            constant.append(column)
    for least in (LEAST_VALUES, 1):
        while _needed(kept) > width and (leaving := _leaving(kept, least)) is not None:
            kept.remove(leaving)
            left_out.append(leaving)
        if _framed([column.folded for column in kept]) <= width:
            break
    widths = [column.least for column in kept]
    while _framed(widths) > width and (widest := _foldable(kept, widths)) is not None:
        widths[widest] -= 1
    _widen(kept, widths, width - _framed(widths))
    in_order = [column for column in columns if column in left_out]
    return Layout(list(zip(kept, widths, strict=True)), constant, in_order)


def _framed(widths: Sequence[int]) -> int:
    return sum(widths) + FRAME * len(widths) + 1


def _needed(columns: Sequence[Shown]) -> int:
    return _framed([column.least for column in columns])


def _leaving(columns: Sequence[Shown], least: int) -> Shown | None:
    """The column to leave out next; none if fewer than ``least`` of those that may be left out would remain."""
    may = [(column.column.rank, place) for place, column in enumerate(columns) if not column.column.keep]
    return columns[max(may)[1]] if len(may) > least else None


def _foldable(columns: Sequence[Shown], widths: Sequence[int]) -> int | None:
    """The place of the widest column that can be narrower."""
    may = [(width, place) for place, width in enumerate(widths) if width > columns[place].folded]
    return max(may)[1] if may else None


def _widen(columns: Sequence[Shown], widths: list[int], spare: int) -> None:
    """Gives spare characters to those columns that wrap, text first."""
    for contents in ((Content.TEXT,), (Content.LABEL, Content.NUMBER)):
        while spare > 0:
            lacking = [
                (column.natural - widths[place], -place)
                for place, column in enumerate(columns)
                if column.column.content in contents
            ]
            most, place = max(lacking, default=(0, 0))
            if most <= 0:
                break
            widths[-place] += 1
            spare -= 1
