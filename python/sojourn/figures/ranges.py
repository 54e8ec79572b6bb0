"""Maps of operating ranges: where a congestion control and a queue get along, the border, and what holds beyond it.

Labels and borders tell what colours tell, so that a map can be read without them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from sojourn import _engine, colours
from sojourn.errors import InputError
from sojourn.figures import look

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: What is said where the library is not installed.
NEEDED = "a map needs the packages scikit-learn and contourpy; install sojourn[search]"

#: Where all is well.
WELL = "gets along"

#: Columns of grids: what holds at a place, and the probability that anything does.
HOLDS, ANY = "holds", "any"

#: The least share of a map that a field has a label from, and the points that a letter and a line of it take.
LEAST_FIELD, LETTER, LINE = 0.02, 4.6, 10

#: Fields with colours of their own at most; the least of others share one.
MOST_FIELDS = colours.MOST - 1

#: Probabilities at which lines are drawn: the border, and the ends of its 95 % interval.
BORDER, ENDS = 0.5, (0.025, 0.975)

#: Maps beside each other, and the most of them that are as wide as that.
BESIDE = 3


@dataclass(frozen=True)
class MapAxis:
    """An axis of a map: a column of its grid."""

    name: str
    title: str
    is_log: bool
    #: Whether its values are whole numbers, each of which has a width of its own.
    is_whole: bool

    def scaled(self, numbers: "Numbers") -> "Numbers":
        """Numbers as they lie on the axis."""
        import numpy as np

        return np.log(numbers) if self.is_log else np.asarray(numbers, dtype=float)

    def number(self, scaled: "Numbers") -> "Numbers":
        """What lies there on the axis."""
        import numpy as np

        return np.exp(scaled) if self.is_log else scaled

    def edges(self, numbers: "Numbers") -> "Numbers":
        """Where fields begin and end, one more than there are numbers."""
        import numpy as np

        places = self.scaled(numbers)
        middles = (places[:-1] + places[1:]) / 2
        first, last = places[0], places[-1]
        if self.is_whole:
            first, last = 2 * first - middles[0], 2 * last - middles[-1]
        return self.number(np.concatenate([[first], middles, [last]]))


@dataclass(frozen=True)
class Look:
    """What a map has of the page that it is on."""

    page: str
    ink: str
    faint: str
    #: How strong fields are.
    strength: float


LIGHT = Look("#ffffff", "#1b1e23", "#666666", 0.35)
DARK = Look("#14171c", "#e7eaef", "#a4adba", 0.45)


@dataclass(frozen=True)
class _Sheet:
    """One map as arrays, a row for each number of the vertical axis."""

    x: MapAxis
    y: MapAxis
    grid: pl.DataFrame
    points: pl.DataFrame
    verdicts: Sequence[str]

    @cached_property
    def numbers(self) -> "tuple[Numbers, Numbers]":
        return self.grid[self.x.name].unique().sort().to_numpy(), self.grid[self.y.name].unique().sort().to_numpy()

    def array(self, column: str) -> Any:
        """A column as an array; what conditions leave out is missing."""
        import numpy as np

        across, up = self.numbers
        values = self.grid[column].to_numpy()
        made = np.full((len(up), len(across)), np.nan if self.grid[column].dtype.is_numeric() else None, dtype=values.dtype)
        made[np.searchsorted(up, self.grid[self.y.name]), np.searchsorted(across, self.grid[self.x.name])] = values
        return made

    def fields(self, colours: Mapping[str, str]) -> pl.DataFrame:
        """Parts of rows with the same colour."""
        across, up = (axis.edges(numbers) for axis, numbers in zip((self.x, self.y), self.numbers, strict=True))
        rows = [
            (across[begin], across[end], up[row], up[row + 1], colours[name], name or WELL)
            for row, names in enumerate(self.array(HOLDS))
            for name, begin, end in _stretches(names)
            if name is not None
        ]
        schema = {**dict.fromkeys(("x", "x2", "y", "y2"), pl.Float64()), "colour": pl.String(), "holds": pl.String()}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def lines(self, column: str, level: float) -> pl.DataFrame:
        """The lines along which a probability has a value."""
        import numpy as np
        from contourpy import contour_generator
        from scipy.special import ndtri

        z = ndtri(np.clip(self.array(column), 1e-4, 1 - 1e-4))
        places = [axis.scaled(numbers) for axis, numbers in zip((self.x, self.y), self.numbers, strict=True)]
        found: Any = contour_generator(x=places[0], y=places[1], z=np.ma.masked_invalid(z)).lines(float(ndtri(level)))
        return pl.DataFrame(
            [
                {"line": number, "order": order, "x": float(x), "y": float(y)}
                for number, line in enumerate(found)
                for order, (x, y) in enumerate(zip(self.x.number(line[:, 0]), self.y.number(line[:, 1]), strict=True))
            ],
            schema={"line": pl.Int64(), "order": pl.Int64(), "x": pl.Float64(), "y": pl.Float64()},
        )

    def labels(self, width: int, height: int) -> pl.DataFrame:
        """What large fields are called, in the middle of each."""
        import numpy as np
        from scipy import ndimage

        names = self.array(HOLDS)
        rows = []
        for name in sorted({name for name in names.flat if name is not None}):
            parts, number = ndimage.label(names == name)
            for part in range(1, number + 1):
                inside = parts == part
                if inside.mean() < LEAST_FIELD:
                    continue
                depth = ndimage.distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
                row, column = np.unravel_index(int(depth.argmax()), depth.shape)
                text = (name or WELL).split(", ")
                half = (max(map(len, text)) * LETTER / 2 / width, len(text) * LINE / 2 / height)
                at = [
                    float(self._kept(axis, numbers, index, share))
                    for axis, numbers, index, share in zip(
                        (self.x, self.y), self.numbers, (int(column), int(row)), half, strict=True
                    )
                ]
                rows.append({"x": at[0], "y": at[1], "text": "|".join(text)})
        return pl.DataFrame(rows, schema={"x": pl.Float64(), "y": pl.Float64(), "text": pl.String()})

    @staticmethod
    def _kept(axis: MapAxis, numbers: "Numbers", index: int, half: float) -> "Numbers":
        """The number at an index, or as near to it as what is so wide has room."""
        import numpy as np

        edges = axis.scaled(axis.edges(numbers))
        low, high = edges[0], edges[-1]
        share = (axis.scaled(numbers[[index]])[0] - low) / (high - low)
        return axis.number(np.array(low + (high - low) * min(max(share, half + 0.01), max(0.99 - half, half + 0.01))))

    def tried(self) -> pl.DataFrame:
        """The places that were tried, and whether anything holds there on most seeds."""
        shares = [pl.col(name) for name in self.verdicts if name in self.points.columns]
        worst = pl.max_horizontal(shares) if shares else pl.lit(0.0)
        return self.points.select(
            pl.col(self.x.name).alias("x"),
            pl.col(self.y.name).alias("y"),
            "seeds",
            pl.when(worst > 0.5).then(pl.lit("filled")).otherwise(pl.lit("open")).alias("kind"),
        )


def _stretches(names: Sequence[str | None]) -> Iterator[tuple[str | None, int, int]]:
    begin = 0
    for name, same in groupby(names):
        end = begin + len(list(same))
        yield name, begin, end
        begin = end


def check() -> None:
    """Checks that what draws is there.

    Raises:
        InputError: it is not.
    """
    try:
        import contourpy
        import scipy.ndimage
    except ImportError:
        raise InputError(NEEDED) from None
    _ = contourpy, scipy


def draw(
    grid: pl.DataFrame,
    points: pl.DataFrame,
    x: MapAxis,
    y: MapAxis,
    choices: Sequence[str],
    verdicts: Sequence[str],
    *,
    title: str,
    said: Sequence[str] = (),
    width: int = look.DOCUMENT,
    page: Look = LIGHT,
) -> look.Chart:
    """Draws maps, one for each combination of choices.

    Args:
        grid: for each place the columns of both axes and of the choices, the probability of each verdict and of ``any``, and
            ``holds``, the names of those that hold.
        points: the places that were tried, with the share of seeds on which each verdict holds.
        x: the axis from left to right.
        y: the axis from bottom to top.
        choices: columns by which maps differ.
        verdicts: columns of verdicts.
        title: what the map is of.
        said: lines below the title.
        width: about how wide it is, in points.
        page: what it is drawn on.

    Raises:
        InputError: what draws is not installed.
    """
    check()
    drawn = grid.filter(pl.col(HOLDS).is_not_null())
    colours = _colours(drawn)
    sheets = drawn.partition_by(choices, as_dict=True, maintain_order=True) if choices else {(): drawn}
    beside = min(BESIDE, max(1, len(sheets)))
    panel = (width - 40) // beside - 30 * (beside > 1)
    height = max(110, min(300, panel * 3 // 4))
    charts = []
    for labels, its in sheets.items():
        chosen = dict(zip(choices, labels, strict=True))
        of_sheet = points.filter(*(pl.col(name) == label for name, label in chosen.items()))
        called = ", ".join(f"{name} {label}" for name, label in chosen.items())
        charts.append(_layers(_Sheet(x, y, its, of_sheet, verdicts), colours, panel, height, page, called))
    # Charts side by side have their own scales, so that one may be logarithmic and lines belong to their map.
    chart = charts[0] if len(charts) == 1 else alt.concat(*charts, columns=beside, spacing=14)
    return _finished(chart, title, said, page)


def _colours(grid: pl.DataFrame) -> dict[str, str]:
    """The colour of each field, of the largest first; the page's where all is well."""
    names = grid.filter(pl.col(HOLDS) != "")[HOLDS].value_counts(sort=True).sort("count", HOLDS, descending=[True, False])[HOLDS]
    return {"": "none", **{name: colours.PALETTE[min(place, MOST_FIELDS)] for place, name in enumerate(names)}}


def _layers(sheet: _Sheet, colours: Mapping[str, str], width: int, height: int, page: Look, called: str) -> look.Chart:
    x, y = (_axis(axis, numbers) for axis, numbers in zip((sheet.x, sheet.y), sheet.numbers, strict=True))
    across, up = alt.X("x:Q", **x), alt.Y("y:Q", **y)
    fields = sheet.fields(colours)
    layers: list[alt.Chart] = [
        alt.Chart(look.data(fields.filter(pl.col("colour") != "none")))
        .mark_rect(opacity=page.strength, strokeWidth=0)
        .encode(
            x=across,
            y=up,
            x2="x2:Q",
            y2="y2:Q",
            color=alt.Color("colour:N", scale=None),
            tooltip=[alt.Tooltip("holds:N", title="holds")],
        )
    ]

    def line(column: str, level: float, **style: Any) -> alt.Chart:
        drawn: alt.Chart = alt.Chart(look.data(sheet.lines(column, level))).mark_line(color=page.ink, **style)
        return drawn.encode(x=across, y=up, detail="line:N", order="order:Q")

    layers += [line(name, BORDER, strokeWidth=0.5) for name in sheet.verdicts if name in sheet.grid.columns and _has(sheet, name)]
    layers += [line(ANY, level, strokeWidth=0.8, strokeDash=[3, 2]) for level in ENDS]
    layers.append(line(ANY, BORDER, strokeWidth=2))
    tried = alt.Chart(look.data(sheet.tried())).encode(
        x=across, y=up, tooltip=look.numbers({"x": sheet.x.title, "y": sheet.y.title, "seeds": "Seeds"})
    )
    layers += [
        tried.transform_filter(f"datum.kind === '{kind}'").mark_point(
            size=9, strokeWidth=0.6, stroke=page.ink, opacity=0.75, filled=False, fill=page.ink if kind == "filled" else page.page
        )
        for kind in ("filled", "open")
    ]
    text = alt.Chart(look.data(sheet.labels(width, height))).encode(x=across, y=up, text="text:N")
    style: dict[str, Any] = {"lineBreak": "|", "fontSize": 9, "fontWeight": 600, "lineHeight": LINE, "baseline": "middle"}
    layers += [
        text.mark_text(**style, stroke=page.page, strokeWidth=3, strokeOpacity=0.8, fill=page.page),
        text.mark_text(**style, fill=page.ink),
    ]
    drawn = alt.layer(*layers).properties(width=width, height=height)
    return drawn.properties(title=alt.TitleParams(called, fontSize=9, color=page.ink)) if called else drawn


def _has(sheet: _Sheet, verdict: str) -> bool:
    return sheet.grid[verdict].drop_nulls().len() > 0


def _axis(axis: MapAxis, numbers: "Numbers") -> dict[str, Any]:
    edges = axis.edges(numbers)
    scale = alt.Scale(type="log" if axis.is_log else "linear", domain=[float(edges[0]), float(edges[-1])], nice=False, zero=False)
    return {"scale": scale, "title": axis.title, "axis": alt.Axis(format="~g", grid=False, tickCount=6)}


def _finished(chart: look.Chart | alt.ConcatChart, title: str, said: Sequence[str], page: Look) -> look.Chart:
    """Gives a map its title, and the style of its page."""
    told = [
        *said,
        "Thick line: the border of getting along; dashed: its 95 % interval; thin: borders of single verdicts",
        "Dots: places that were run, filled where a verdict holds on most seeds",
    ]
    described = chart.properties(
        title=alt.TitleParams(title, subtitle=told, color=page.ink, subtitleColor=page.faint),
        description=f"{title}. {'. '.join(told)}.",
        usermeta={"sojourn": {"figure": "range", "version": _engine.version()}},
    )
    inked = {"labelColor": page.ink, "titleColor": page.ink}
    config = {
        **look.CONFIG,
        "background": page.page,
        "axis": {**look.CONFIG["axis"], **inked, "domainColor": page.faint, "tickColor": page.faint},
        "view": {"stroke": page.faint},
    }
    finished: look.Chart = described.configure(**config)
    return finished
