"""Names that users choose: any that is one line of text goes through tables, reports and figures as it is."""

import json
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn
from conftest import SMALL_TOML, scenario_data
from doubles import Inventor
from sojourn import campaign, figures, names, report
from sojourn.analysis import comparison
from sojourn.analysis.axes import check_axes
from sojourn.campaign import Campaign
from sojourn.cli import sides
from sojourn.cli.console import put
from sojourn.errors import InputError
from sojourn.figures import Drawn
from sojourn.figures.look import UNDRAWABLE
from sojourn.runs import Cell
from sojourn.scenario import from_data
from sojourn.store import Provenance, Store

#: What has a meaning to SQL, HTML, JSON, CSV, a shell, Rich, Vega or JavaScript, but not as a name.
ODD = (
    *('"', "'", "`", "[bold]", "[/]", "<evil>", "</script><evil>", "&lt;", "${x}", "{{x}}", "; drop table runs", "--", "\\"),
    *("__proto__", "constructor", "toString", "datum.x", "a.b[0]", "a, b", "%s", "$(x)", "row", "shape", "value", "seeds"),
    *("größer", "שלום", "🚦", "\u200d", "e\u0301", "null", "-", "0", "select", "from"),
)

NAMES = st.lists(st.sampled_from(ODD) | st.text(max_size=6), min_size=1, max_size=3).map(" ".join)


def usable(axes: tuple[str, ...]) -> bool:
    try:
        check_axes(axes)
    except InputError:
        return False
    return len(set(axes)) == len(axes)


AXES = st.tuples(NAMES, NAMES).filter(lambda axes: usable(axes) and not UNDRAWABLE.intersection(axes))
LABELS = st.lists(
    NAMES.filter(lambda name: names.fault(name) is None and name not in UNDRAWABLE), min_size=2, max_size=2, unique=True
)
GROUP = NAMES.filter(lambda name: names.fault(name) is None)


class Tags(HTMLParser):
    """The elements of a page, and the names of their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}


def kept(directory: Path, axes: tuple[str, ...], labels: list[str], group: str, name: str, reach: int = 2) -> None:
    """Makes results of the cells of some axes, whose labels are the same, or the first of them."""
    points = [{axes[0]: first, axes[1]: second} for first in labels for second in labels[:reach]]
    flows = [{"from": "a", "to": "b", "count": 2, "tcp": "newreno", "group": group}]
    data = (scenario_data(flows=flows, name=name, duration=f"{4 + place} s") for place in range(len(points)))
    cells = [Cell(point, from_data(each, "test")) for point, each in zip(points, data, strict=True)]
    backend = Inventor()
    planned = campaign.plan(Campaign.of_cells("odd", cells, 2), backend)
    with Store(directory, create=True) as store:
        store.note(Provenance("command", "1.0", backend.identity, only={axes[0]: labels}))
        campaign.run(planned, backend, store)


def check(axes: tuple[str, ...], labels: list[str], group: str, name: str, reach: int, drawn: tuple[str, ...]) -> None:
    """Makes results with these names, and everything that shows names; figures ``drawn`` as SVG, others as specifications."""
    with TemporaryDirectory() as temporary:
        directory = Path(temporary) / "results"
        kept(directory, axes, labels, group, name, reach)
        page = report.write(directory).read_text(encoding="utf-8")
        assert not {"evil", *(f"on{event}" for event in ("click", "error", "load"))} & Tags(page).found
        with sojourn.open(directory) as store:
            runs = store.runs
            texts = [f"{axes[0]}={label},{axes[1]}={labels[0]}" for label in labels]
            first, second = (comparison.condition(text, axes) for text in texts)
            compared = comparison.compare_cells(runs, first, second, ["jain"])
            put(sides.compared(compared, [], texts[0], texts[1]))
            for figure in ("heatmap-fairness", "fairness-delay", "flow-throughputs"):
                assert figures.draw(figure, store, {axes[0]: labels[0]}).to_dict()
            for figure in drawn:
                ElementTree.fromstring(figures.svg(figures.draw(figure, store, {axes[0]: labels[0]})))
            assert list(Drawn.of(store).axes) == list(axes)


@pytest.mark.parametrize(
    ("axes", "labels", "group", "name", "reach"),
    [
        (('"', "'"), ['"', "'"], "<evil>", '"', 1),
        (("__proto__", "<evil>"), ["__proto__", "null"], "__proto__", "<evil>", 2),
        (("row", "shape"), ["[bold]", "\\"], "[/]", "[bold]", 2),
        pytest.param(('"', "\\"), ['"', "'"], '"', '"', 2, marks=pytest.mark.long),
        pytest.param(("null", "'"), ["0", "-"], '"', '"', 1, marks=pytest.mark.long),
    ],
)
def test_odd_names_are_shown(axes: tuple[str, ...], labels: list[str], group: str, name: str, reach: int) -> None:
    """Names that mean something to SQL, HTML, Rich or JavaScript are text in SQL, a report, a comparison, tables and figures."""
    check(axes, labels, group, name, reach, ("sojourn-median",))


@pytest.mark.long
@given(axes=AXES, labels=LABELS, group=GROUP, name=GROUP, reach=st.sampled_from([1, 2]))
@settings(max_examples=60)
def test_any_names_are_shown(axes: tuple[str, ...], labels: list[str], group: str, name: str, reach: int) -> None:
    """The same with any names that are one line of text."""
    check(axes, labels, group, name, reach, ("sojourn-median", "heatmap-fairness", "queue-over-time"))


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ("", "is empty"),
        (" a", "starts or ends with a space"),
        ("a\nb", "has a control character or a line break"),
        ("a\u2028b", "has a control character or a line break"),
        ("a=b", 'has "=", which ends it in AXIS=VALUE'),
        ("*", "is a pattern of column names in polars"),
        ("^a.*$", "is a pattern of column names in polars"),
    ],
)
def test_unusable_axis_names(axis: str, message: str) -> None:
    """A name that no table, query or option could show or take is refused, and the message says why."""
    with pytest.raises(InputError) as error:
        check_axes([axis])
    assert str(error.value) == f"axis {json.dumps(axis, ensure_ascii=False)}: the name {message}; rename the axis"


@pytest.mark.parametrize("key", ["group", "name"])
def test_unusable_scenario_names(key: str) -> None:
    """Names of scenarios and groups have no control characters."""
    data = scenario_data()
    (data if key == "name" else data["flows"][0])[key] = "a\tb"
    with pytest.raises(InputError, match="the name has a control character or a line break"):
        from_data(data, "test")


def test_unusable_label(tmp_path: Path) -> None:
    """A label of an axis has no control characters."""
    file = tmp_path / "odd.toml"
    sweep = '[sweep.axes]\ntcp = { key = "flows.*.tcp", values = [{ label = "a\\nb", value = "cubic" }, "newreno"] }\n'
    file.write_text(SMALL_TOML + sweep, encoding="utf-8")
    with pytest.raises(InputError, match=r"the label .* has a control character or a line break"):
        sojourn.expand(file)
