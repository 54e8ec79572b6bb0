"""Queries of runs, seed by seed: SQL that returns ``seed``, and ``holds`` where it decides or ``value`` where it measures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl

from sojourn.analysis.frames import EVERY, schema
from sojourn.analysis.result import Result
from sojourn.errors import InputError, within
from sojourn.store.query import Stream, confine, find, opened, rows
from sojourn.store.sql import identifier, literal
from sojourn.sweeps.model import Meant

if TYPE_CHECKING:
    import duckdb

#: The columns of a query: the seed, what it decides with the values that show it, or what it measures.
SEED, HOLDS, VALUE = "seed", "holds", "value"

#: What DuckDB may use for a query before it turns to the disk.
MEMORY = "200MB"

#: Columns of the tables, and queries that can be asked of them: a study that is reproduced again is not asked again.
_answerable: set[tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]] = set()


def bind(axes: Sequence[str], queries: Mapping[str, str], answer: str = HOLDS) -> None:
    """Asks queries of empty tables, so that one that cannot be answered is found before anything is run.

    Args:
        axes: those of the runs that are asked.
        queries: by what errors call each.
        answer: what they return beside the seed, ``HOLDS`` or ``VALUE``.
    """
    tables = {name: schema(name, axes) for name in EVERY}
    asked = (tuple(tuple(columns) for columns in tables.values()), (answer, *queries.values()))
    if asked in _answerable:
        return
    with opened(MEMORY) as database:
        for name, columns in tables.items():
            database.from_arrow(Stream(columns.to_frame())).create(name)
        confine(database)
        for place, query in queries.items():
            _find(database, place, query, [], answer=answer)
    _answerable.add(asked)


class Answers:
    """The rows of a result, of which queries can be asked."""

    def __init__(self, database: "duckdb.DuckDBPyConnection") -> None:
        self._database = database

    def of(
        self, place: str, query: str, cells: Meant, seeds: Iterable[int], *, absent: bool | None = None, answer: str = HOLDS
    ) -> pl.DataFrame:
        """What a query says of some seeds in the cells with some values of axes: a row for each seed.

        Args:
            place: how errors begin.
            query: what is asked.
            cells: the values of axes.
            seeds: those that it is asked of.
            absent: what holds of a seed for which the query returns no row; that is an error unless given.
            answer: what the query returns beside the seed, ``HOLDS`` or ``VALUE``; a seed without a row has no value.

        Raises:
            InputError: it has no such answer; the text begins with ``place``.
        """
        wanted = sorted(seeds)
        chosen = [f"{identifier(axis)} IN ({', '.join(map(literal, sorted(labels)))})" for axis, labels in cells.items()]
        chosen.append(f"seed IN ({', '.join(map(str, wanted))})" if wanted else "false")
        for name in EVERY:
            where = " AND ".join(chosen)
            self._database.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM {_everything(name)} WHERE {where}")
        return _find(self._database, place, query, wanted, absent, answer)

    def of_runs(self, place: str, query: str) -> pl.DataFrame:
        """What a query says of every run.

        Args:
            place: how errors begin.
            query: what is asked; it must return columns ``key`` and ``holds``.

        Raises:
            InputError: it has no such answer; the text begins with ``place``.
        """
        for name in EVERY:
            self._database.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM {_everything(name)}")
        with within(place, InputError):
            return find(self._database, query)


@contextmanager
def answers(result: Result, tables: Mapping[str, pl.DataFrame] | None = None) -> Iterator[Answers]:
    """What queries of a result's rows, and of tables beside them, find, as long as it is open."""
    with opened(MEMORY) as database:
        for name, rows_of in (tables or {}).items():
            database.from_arrow(Stream(rows_of)).create(name)
        _fill(database, result)
        yield Answers(database)


def _fill(database: "duckdb.DuckDBPyConnection", result: Result) -> None:
    """Makes the tables with the rows of all cells; those of files are views, so that a query reads what it needs."""
    runs = result.file("runs")
    condition = ""
    if runs is not None:
        keys = result.columns("runs", ["key"])
        if keys.height < pl.scan_parquet(runs).select(pl.len()).collect().item():
            database.from_arrow(Stream(keys)).create("wanted")
            condition = "key IN (FROM wanted)"
    for name in EVERY:
        file = result.file(name)
        if file is None:
            database.from_arrow(Stream(result.scan(name).collect())).create(_everything(name))
        else:
            found = rows(database, file, name)
            (found.filter(condition) if condition else found).create_view(_everything(name))
    confine(database, *([] if runs is None else [runs.parent]))


def _everything(name: str) -> str:
    """What the table with the rows of all cells is called: a query sees those of its own cells."""
    return f"every_cells_{name}"


def _find(
    database: "duckdb.DuckDBPyConnection",
    place: str,
    query: str,
    seeds: Sequence[int],
    absent: bool | None = None,
    answer: str = HOLDS,
) -> pl.DataFrame:
    """What a query finds, which must be one row for each of these seeds."""
    with within(place, InputError):
        found = find(database, query)
    if (absent is not None or answer == VALUE) and {SEED, answer} <= set(found.columns):
        others = pl.DataFrame({SEED: [seed for seed in seeds if seed not in found[SEED]]}, schema={SEED: found.schema[SEED]})
        found = pl.concat([found, others.with_columns(pl.lit(absent).alias(answer))], how="diagonal_relaxed")
    _check(place, found, seeds, answer)
    return found.sort(SEED)


def _check(place: str, found: pl.DataFrame, seeds: Sequence[int], answer: str) -> None:
    for column in (SEED, answer):
        if column not in found.columns:
            raise InputError(f'{place}: the query returns no column "{column}" (it returns {", ".join(found.columns)})')
    if answer == HOLDS and found[HOLDS].dtype != pl.Boolean:
        raise InputError(f'{place}: the column "{HOLDS}" must be true or false, not {found[HOLDS].dtype}')
    if answer == VALUE and not found[VALUE].dtype.is_numeric() and found[VALUE].dtype not in (pl.Boolean, pl.Null):
        raise InputError(f'{place}: the column "{VALUE}" must be a number, not {found[VALUE].dtype}')
    for column, dtype in found.schema.items():
        is_value = dtype.is_numeric() or (dtype == pl.String and column != SEED)
        if column != answer and not is_value:
            raise InputError(f'{place}: the column "{column}" must be a number or text, not {dtype}')
    answered = found[SEED].to_list()
    for seed in seeds:
        if answered.count(seed) != 1:
            raise InputError(f"{place}: the query returns {answered.count(seed)} rows for seed {seed}; it must return one")
    if len(answered) != len(seeds):
        raise InputError(f"{place}: the query returns rows without a seed")
