"""The page of an operating range: its map, on a light page and on a dark one, and where verdicts begin."""

from pathlib import Path

from markupsafe import Markup

from sojourn import _engine
from sojourn.api import draw_range
from sojourn.exploration import words
from sojourn.exploration.operating import OperatingRange
from sojourn.figures.saving import svg
from sojourn.report.page import templates
from sojourn.store import write_whole

#: The page in a directory of results, and the map alone, on a light page and on a dark one.
NAME, LIGHT, DARK = "range.html", "range.svg", "range-dark.svg"


def write(found: OperatingRange, directory: Path) -> Path:
    """Writes the page and the map into a directory, and says where the page is."""
    drawn = {name: svg(draw_range(found, dark=dark)) for name, dark in ((LIGHT, False), (DARK, True))}
    for name, text in drawn.items():
        write_whole(directory / name, lambda path, text=text: path.write_text(text, encoding="utf-8"))  # type: ignore[misc]
    made = page(found, drawn[LIGHT], drawn[DARK])
    write_whole(directory / NAME, lambda path: path.write_text(made, encoding="utf-8"))
    return directory / NAME


def page(found: OperatingRange, light: str, dark: str) -> str:
    """The HTML of a range with its map."""
    space = found.plane.space
    told = words.rows(found)
    return (
        templates()
        .get_template("range.html.jinja")
        .render(
            version=_engine.version(),
            title=str(space.base.get("description") or space.name),
            name=space.name,
            lines=words.lines(found),
            light=Markup(light),
            dark=Markup(dark),
            columns=told.columns,
            rows=told.rows(),
            asked=[(each.id, each.tells, each.bound) for each in found.asked if each.id not in found.never],
        )
    )
