"""Results with methods: what can be done with those of a campaign, and with those that a directory keeps."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from sojourn import api, store
from sojourn.analysis import findings, result, summary
from sojourn.analysis.comparison import Results
from sojourn.analysis.estimates import ends
from sojourn.analysis.frames import EVERY
from sojourn.analysis.result import Frames
from sojourn.errors import InputError
from sojourn.metrics import METRICS
from sojourn.store import query
from sojourn.table import to_frame

if TYPE_CHECKING:
    from sojourn.figures import Chart, Selection


class Looked(Frames, ABC):
    """What can be done with results: methods that are called as the commands of the command line."""

    @abstractmethod
    def scan(self, name: str) -> pl.LazyFrame:
        """A frame by its name, of which only what is selected is read."""

    @abstractmethod
    def _campaign(self) -> result.Result:
        """The results of one campaign."""

    def plot(
        self,
        figure: str,
        only: "Selection | None" = None,
        seeds: Iterable[int] | None = None,
        *,
        width: float | None = None,
        height: float | None = None,
        titled: bool = True,
    ) -> "Chart":
        """Draws a figure, as an Altair chart that a notebook shows and that can be changed.

        Args:
            figure: which; ``sojourn.list("figures")`` has them all, such as ``"queue-over-time"``.
            only: values of some axes, such as ``{"queue": ["codel", "pie"]}``, and of ``group`` groups; all unless given.
            seeds: seeds to draw; all unless given. A figure over time shows the first.
            width: exactly how wide, in points; about as wide as a document's text unless given.
            height: exactly how high, in points; as the figure chooses unless given.
            titled: whether it has its title, what it shows and the commands above it.

        Raises:
            InputError: there is no such figure, axis, value, group or seed, or the results do not have what it shows.
        """
        from sojourn import figures  # what draws loads slowly

        return figures.draw(figure, self, only, seeds, width=width, height=height, titled=titled)

    def compare(
        self,
        first: api.Side | Results,
        second: api.Side | None = None,
        metrics: Sequence[str] = (),
        *,
        groups: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """Compares two cells or groups of flows, two parts of a sweep, or all cells with those of other results.

        Args:
            first: a cell by values of its axes, ``{"queue": "codel"}`` or ``"queue=codel"``, also with a ``group``; or, without
                ``second``, other results.
            second: the other cell. If both name the same axes and several cells match, all these are compared.
            metrics: the metrics that are compared; the main ones unless given.
            groups: the groups of flows that are compared; runs and all groups unless given.

        Returns:
            A row a metric, of each group or cell: ``metric``, ``title``, ``unit``, ``seeds``, the means ``a`` and ``b`` over
            common seeds, their ``difference`` with the ends of its 95 % interval, and what is ``allowed`` of it. Of two cells
            ``verdict`` says whether a difference is shown, ``better`` whether the second is better, ``seeds_needed`` how many
            would decide, beside ``p`` (Wilcoxon's signed-rank test) and ``harm``; of several whether each ``agrees``.

        Raises:
            InputError: there is no such axis, value, metric or group, or nothing in common that both have run with the same seed.
        """
        if isinstance(first, str | Mapping):
            if second is None:
                raise InputError('compare: name two cells, such as "queue=codel" and "queue=pie", or give other results')
            return api.compared_frame(api.compare_within(self, first, second, metrics, groups))
        if second is not None or groups is not None:
            raise InputError("compare: other results are compared as a whole; name two cells to compare these")
        return api.compared_frame(api.compare_results(self, first, metrics or None))

    def verdicts(self, only: Iterable[str] | None = None) -> pl.DataFrame:
        """Judges whether congestion controls and queues get along in each cell.

        Args:
            only: names of verdicts, such as ``"standing-queue"``; all of them unless given.

        Returns:
            A row a cell and verdict: axes, ``verdict``, ``answer``, on how many ``seeds`` it ``held``, the ``value`` that shows
            it and the threshold; docs/verdicts.md explains them.

        Raises:
            InputError: there is no such verdict.
        """
        from sojourn import names, verdicts

        known = {each.id: each for each in verdicts.definitions()}
        wanted = None if only is None else list(only)
        names.check("verdict", wanted or (), known, InputError)
        return verdicts.frame(verdicts.judge(self._campaign(), None if wanted is None else [known[name] for name in wanted]))

    @abstractmethod
    def report(self, path: str | Path, /) -> Path:
        """Writes the results as one HTML file that needs no network, and returns where it is.

        Raises:
            InputError: there are no runs, or the file cannot be there.
        """

    @abstractmethod
    def query(self, sql: str) -> pl.DataFrame:
        """What a query in SQL finds in the tables ``runs``, ``groups``, ``flows``, ``queues``, ``transfers`` and ``series``.

        The language is DuckDB's, and a query only reads.

        Raises:
            InputError: the query is wrong.
        """


class Result(result.Result, Looked):
    """What a campaign found: its frames, and what can be done with them.

    A notebook shows a table of its cells, and the queues over time if they were sampled.
    """

    def __init__(self, found: result.Result) -> None:
        super().__init__(found.scan, found.axes, found.file)
        self.command, self.order = found.command, found.order
        self.name, self.description, self.changes = found.name, found.description, found.changes
        self.html, self.text = found.html, found.text
        self._found = found  # a temporary directory of many runs is kept as long as this

    @property
    def findings(self) -> pl.DataFrame:
        """What the runs show, in one to five sentences, and the numbers behind each.

        A row a finding: its ``kind``, the sentence in ``text``, the ``axis`` that it is about with the labels of ``first`` and
        ``second``, and ``values``, a list with the means, differences and intervals of each metric.
        """
        return to_frame(summary.sentences(findings.of(self)))

    @property
    def cells(self) -> pl.DataFrame:
        """A row a cell: its axes, the number of ``seeds``, and the mean of each main metric with the ends of its 95 % interval.

        Metrics without a value are left out. All are in base units; ``sojourn.named`` calls them as tables do, in their units.
        """
        return _with_values(to_frame(summary.cells(self)))

    @property
    def cells_by_group(self) -> pl.DataFrame:
        """A row a cell and group of its flows, as ``cells``; the group is ``flow_group``."""
        groups = self.scan("groups").select(pl.col("flow_group").unique(maintain_order=True)).collect()["flow_group"].to_list()
        found = summary.groups(self, only=groups)
        assert found is not None, "groups were chosen"
        return _with_values(to_frame(found))

    def report(self, path: str | Path) -> Path:
        """See ``Looked.report``."""
        from sojourn import report  # what draws loads slowly

        return report.write_result(self, path)

    def query(self, sql: str) -> pl.DataFrame:
        """See ``Looked.query``."""
        return query.ask_frames({name: self.frame(name) for name in EVERY}, sql)

    def _campaign(self) -> result.Result:
        return self


def _with_values(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame without metrics that have no value."""
    without = [name for name in METRICS if name in frame.columns and frame[name].null_count() == frame.height]
    return frame.drop([each for name in without for each in (name, *ends(name))])


class Store(store.Store, Looked):
    """The results in a directory: the frames of all its runs, and what can be done with them."""

    def report(self, path: str | Path | None = None) -> Path:
        """See ``Looked.report``; without a path the file is ``report.html`` in the directory."""
        from sojourn import report

        return report.write(self.directory, path)

    def query(self, sql: str, also: Mapping[str, store.Store] | None = None) -> pl.DataFrame:
        """See ``Looked.query``; ``also`` names other directories, whose tables are then ``NAME.runs`` and so on."""
        return self.sql(sql, also)

    def claims(self, study: str) -> pl.DataFrame:
        """Judges the claims of a study's paper by its runs in the directory, and writes ``claims.csv`` there.

        Returns:
            A row a claim: id, claim, source, verdict, held, seeds, evidence.

        Raises:
            InputError: there is no such study, it has no claims, or the directory no runs of it.
        """
        from sojourn.study import library, verdicts

        return verdicts.frame(api.judge(library.load(study), self.directory))

    def _campaign(self) -> result.Result:
        from sojourn.report import contents

        return contents.read(self.directory).result

    def __repr__(self) -> str:
        return f"<{len(self):,} runs in {self.directory}>"

    def _repr_html_(self) -> str:
        made = "".join(f"<li><code>{escape(each.command)}</code></li>" for each in self.provenance)
        return f"<p>{len(self):,} runs in <code>{escape(str(self.directory))}</code>, made by</p><ul>{made}</ul>"
