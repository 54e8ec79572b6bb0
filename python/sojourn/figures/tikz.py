"""Charts as TikZ: the parts of their SVG as paths and nodes, so that a document sets the text in its own font.

docs/decisions/041-figures-for-latex.md says why not pgfplots.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from sojourn.figures.grey import HATCH, SVG

#: Coordinates on a line of a file.
ON_A_LINE = 6

#: Stripes that a gradient is drawn as.
STRIPES = 64

#: The hatches of grey.py in TikZ's library of patterns; levels of grey are none.
_PATTERNS = (
    "",
    "north east lines",
    "crosshatch dots",
    "north west lines",
    "",
    "horizontal lines",
    "crosshatch",
    "vertical lines",
)

#: Characters that TeX does not print as they are.
_TEX = {
    **{character: f"\\{character}" for character in "{}$&#_%"},
    "-": "{-}",
    **{"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": "{<}", ">": "{>}"},
    **{
        "±": r"$\pm$",
        "Σ": r"$\Sigma$",
        "µ": r"$\mu$",
        "μ": r"$\mu$",
        "…": r"\dots{}",
        "\u2212": "$-$",
        "\N{NO-BREAK SPACE}": "~",
    },
}

_ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}

_TOKEN = re.compile(r"[MmLlHhVvCcAaZz]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

#: Numbers that a command of a path has.
_ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "A": 7, "Z": 0}

_Point = tuple[float, float]


@dataclass(frozen=True)
class _Place:
    """Where something stands on the page: an affine map, as SVG has it."""

    a: float = 1
    b: float = 0
    c: float = 0
    d: float = 1
    e: float = 0
    f: float = 0

    def then(self, inner: "_Place") -> "_Place":
        """The map of something within."""
        return _Place(
            self.a * inner.a + self.c * inner.b,
            self.b * inner.a + self.d * inner.b,
            self.a * inner.c + self.c * inner.d,
            self.b * inner.c + self.d * inner.d,
            *self.of((inner.e, inner.f)),
        )

    def of(self, point: _Point) -> _Point:
        """Where a point is."""
        x, y = point
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f


def tikz(svg: str, said: str) -> str:
    """An SVG of a chart as a ``tikzpicture`` of the same size; ``said`` becomes a comment."""
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    gradients = {part.get("id", ""): part for part in root.iter(f"{{{SVG}}}linearGradient")}
    lines = list(_Page(height, gradients).drawn(root, _Place()))
    packages = r"\usepackage{tikz}" + (r" \usetikzlibrary{patterns}" if any("pattern=" in line for line in lines) else "")
    head = [*(f"% {line}" for line in said.splitlines()), f"% The document needs {packages}"]
    picture = [
        r"\begin{tikzpicture}[x=1bp,y=1bp,inner sep=0pt,outer sep=0pt,line join=round]",
        rf"\path[use as bounding box] (0,0) rectangle ({_number(width)},{_number(height)});",
    ]
    return "\n".join([*head, *picture, *lines, r"\end{tikzpicture}%", ""])


class _Page:
    """Draws the parts of an SVG, whose y axis points down, on a page so high, whose y axis points up."""

    def __init__(self, height: float, gradients: Mapping[str, ElementTree.Element]) -> None:
        self._height, self._gradients = height, gradients

    def drawn(self, part: ElementTree.Element, outside: _Place) -> Iterator[str]:
        """The commands that draw a part and what is in it, in order."""
        if part.get("display") == "none":
            return
        kind, place = part.tag.removeprefix(f"{{{SVG}}}"), outside.then(_placed(part.get("transform", "")))
        if kind in ("svg", "g"):
            for inner in part:
                yield from self.drawn(inner, place)
        elif kind == "path":
            yield from self._path(part, place, list(_commands(part.get("d", ""))))
        elif kind == "line":
            ends = (
                (float(part.get("x1", "0")), float(part.get("y1", "0"))),
                (float(part.get("x2", "0")), float(part.get("y2", "0"))),
            )
            yield from self._path(part, place, [("M", [ends[0]]), ("L", [ends[1]])])
        elif kind == "text":
            yield from self._text(part, place)

    def _path(self, part: ElementTree.Element, place: _Place, commands: list[tuple[str, list[_Point]]]) -> Iterator[str]:
        fill, stroke = part.get("fill"), part.get("stroke")
        if fill is not None and (gradient := self._gradients.get(fill.removeprefix("url(#").removesuffix(")"))) is not None:
            yield from self._gradient(gradient, place, commands)
            fill = None
        options = [*_filled(fill), *(_stroked(part, stroke) if _shows(stroke) else ())]
        if not options or not commands:
            return
        for name in ("opacity", "fill-opacity", "stroke-opacity"):
            value = part.get(name)
            if value is not None and float(value) != 1:
                options.append(f"{name.replace('stroke', 'draw').replace('-', ' ')}={_number(float(value))}")
        yield f"\\path[{','.join(options)}] {self._drawn(place, commands)};"

    def _drawn(self, place: _Place, commands: list[tuple[str, list[_Point]]]) -> str:
        words = []
        for name, points in commands:
            at = [self._at(place, point) for point in points]
            if name == "C":
                words.append(f".. controls {at[0]} and {at[1]} .. {at[2]}")
            else:
                words.append({"M": "", "L": "-- ", "Z": "-- cycle"}[name] + "".join(at))
        lines = (" ".join(words[start : start + ON_A_LINE]) for start in range(0, len(words), ON_A_LINE))
        return "\n  ".join(lines)

    def _gradient(self, gradient: ElementTree.Element, place: _Place, commands: list[tuple[str, list[_Point]]]) -> Iterator[str]:
        corners = [place.of(point) for _, points in commands for point in points]
        (left, right), (top, bottom) = ((min(axis), max(axis)) for axis in zip(*corners, strict=True))
        stops = [(float(stop.get("offset", "0")), _parts(stop.get("stop-color", "black"))) for stop in gradient]
        is_upright = gradient.get("x1") == gradient.get("x2")
        for stripe in range(STRIPES):
            share = (stripe + 0.5) / STRIPES
            colour = _between(stops, 1 - share if is_upright and float(gradient.get("y1", "0")) > 0 else share)
            ends = [stripe / STRIPES, (stripe + 1) / STRIPES]
            x = [left, right] if is_upright else [left + (right - left) * end for end in ends]
            y = [top + (bottom - top) * end for end in ends] if is_upright else [top, bottom]
            corner, other = (self._at(_Place(), (x[end], y[end])) for end in (0, 1))
            yield f"\\path[fill={_colour(colour)}] {corner} rectangle {other};"

    def _text(self, part: ElementTree.Element, place: _Place) -> Iterator[str]:
        size = float(part.get("font-size", "10px").removesuffix("px"))
        bold = r"\bfseries" if part.get("font-weight") in ("bold", "600", "700") else ""
        options = [f"anchor={_ANCHORS[part.get('text-anchor', 'start')]}"]
        turn = -math.degrees(math.atan2(place.b, place.a))
        options += [f"rotate={_number(turn)}"] if round(turn, 2) else []
        if (fill := part.get("fill", "black")) not in ("black", "#000", "#000000"):
            options.append(f"text={_colour(_parts(fill))}")
        font = rf"\fontsize{{{_number(size)}}}{{{_number(1.2 * size)}}}\selectfont{bold}"
        down = 0.0
        for line in [part, *part]:
            down += float(line.get("dy", "0")) if line is not part else 0
            if line.text:
                at = self._at(place, (float(line.get("x", "0")), down))
                yield f"\\node[{','.join(options)},font={font}] at {at} {{{escaped(line.text)}}};"

    def _at(self, place: _Place, point: _Point) -> str:
        x, y = place.of(point)
        return f"({_number(x)},{_number(self._height - y)})"


def escaped(text: str) -> str:
    """A text as TeX prints it."""
    return "".join(_TEX.get(character, character) for character in text)


def _placed(transform: str) -> _Place:
    place = _Place()
    for name, text in re.findall(r"(translate|rotate|scale)\(([^)]*)\)", transform):
        numbers = [float(number) for number in re.split(r"[ ,]+", text.strip())]
        if name == "translate":
            inner = _Place(e=numbers[0], f=numbers[1] if len(numbers) > 1 else 0)
        elif name == "rotate":
            turn = math.radians(numbers[0])
            inner = _Place(math.cos(turn), math.sin(turn), -math.sin(turn), math.cos(turn))
        else:
            inner = _Place(a=numbers[0], d=numbers[-1])
        place = place.then(inner)
    return place


def _commands(path: str) -> Iterator[tuple[str, list[_Point]]]:
    """The parts of a path as M, L, C and Z with absolute points."""
    tokens = _TOKEN.findall(path)
    name, place = "", 0
    here = start = (0.0, 0.0)
    while place < len(tokens):
        if tokens[place].isalpha():
            name, place = tokens[place], place + 1
        count = _ARGUMENTS[name.upper()]
        numbers = [float(token) for token in tokens[place : place + count]]
        place += count
        origin = here if name.islower() else (0.0, 0.0)
        kind = name.upper()
        if kind == "Z":
            here = start
            yield "Z", []
        elif kind == "A":
            end = (numbers[5] + origin[0], numbers[6] + origin[1])
            for curve in _arc(here, numbers, end):
                yield "C", curve
            here = end
        else:
            if kind in ("H", "V"):
                points = [(numbers[0] + origin[0], here[1]) if kind == "H" else (here[0], numbers[0] + origin[1])]
            else:
                points = [(x + origin[0], y + origin[1]) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
            here = points[-1]
            start = here if kind == "M" else start
            yield "L" if kind in ("H", "V") else kind, points
            # Points after the first of a move are lines (SVG 2, 9.3.3).
            name = {"M": "L", "m": "l"}.get(name, name)


def _arc(begin: _Point, numbers: list[float], end: _Point) -> Iterator[list[_Point]]:
    """A circular arc as curves of at most a quarter of a turn (SVG 2, appendix B.2.4); symbols have no others."""
    radius, large, sweep = numbers[0], bool(numbers[3]), bool(numbers[4])
    dx, dy = (end[0] - begin[0]) / 2, (end[1] - begin[1]) / 2
    half = math.hypot(dx, dy)
    if half == 0 or radius == 0:
        return
    radius = max(radius, half)
    away = math.sqrt(max(0.0, radius**2 - half**2)) / half * (1 if large != sweep else -1)
    # From the middle of the chord across it.
    centre = (begin[0] + dx - away * dy, begin[1] + dy + away * dx)
    first, last = (math.atan2(point[1] - centre[1], point[0] - centre[0]) for point in (begin, end))
    turn = (last - first) % (2 * math.pi) if sweep else -((first - last) % (2 * math.pi))
    pieces = max(1, math.ceil(abs(turn) / (math.pi / 2) - 1e-9))
    step = turn / pieces
    reach = 4 / 3 * math.tan(step / 4) * radius
    for piece in range(pieces):
        angles = first + piece * step, first + (piece + 1) * step
        (ax, ay), (bx, by) = ((centre[0] + radius * math.cos(angle), centre[1] + radius * math.sin(angle)) for angle in angles)
        yield [
            (ax - reach * math.sin(angles[0]), ay + reach * math.cos(angles[0])),
            (bx + reach * math.sin(angles[1]), by - reach * math.cos(angles[1])),
            (bx, by),
        ]


def _shows(colour: str | None) -> bool:
    return colour not in (None, "none", "transparent")


def _filled(fill: str | None) -> list[str]:
    if fill is None or not _shows(fill):
        return []
    if fill.startswith(f"url(#{HATCH}"):
        return [f"pattern={_PATTERNS[int(fill.removeprefix(f'url(#{HATCH}').removesuffix(')'))]}"]
    return [f"fill={_colour(_parts(fill))}"]


def _stroked(part: ElementTree.Element, stroke: str | None) -> list[str]:
    made = [f"draw={_colour(_parts(stroke or 'black'))}", f"line width={_number(float(part.get('stroke-width', '1')))}bp"]
    dashes = [float(dash) for dash in re.split(r"[ ,]+", part.get("stroke-dasharray", "")) if dash]
    if any(dashes[1::2]):
        pattern = " ".join(f"{'off' if place % 2 else 'on'} {_number(dash)}bp" for place, dash in enumerate(dashes))
        made.append(f"dash pattern={pattern}")
    return made


def _parts(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of a colour, from 0 to 255."""
    if found := re.fullmatch(r"rgb\((\d+), ?(\d+), ?(\d+)\)", colour):
        red, green, blue = map(int, found.groups())
        return red, green, blue
    if found := re.fullmatch("#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})", colour):
        digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    return (255, 255, 255) if colour == "white" else (0, 0, 0)


def _colour(parts: tuple[int, int, int]) -> str:
    if parts in ((0, 0, 0), (255, 255, 255)):
        return "white" if parts[0] else "black"
    return "{{rgb,255:red,{};green,{};blue,{}}}".format(*parts)


def _between(stops: list[tuple[float, tuple[int, int, int]]], share: float) -> tuple[int, int, int]:
    after = next((place for place, (offset, _) in enumerate(stops) if offset >= share), len(stops) - 1)
    (low, first), (high, last) = stops[max(0, after - 1)], stops[after]
    part = (share - low) / (high - low) if high > low else 0
    red, green, blue = (round(a + part * (b - a)) for a, b in zip(first, last, strict=True))
    return red, green, blue


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
