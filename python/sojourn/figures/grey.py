"""Figures for print without colours: hatches tell bars, dashes lines, and levels of grey points."""

import re
from xml.etree import ElementTree

from sojourn import colours

#: The namespace of SVG.
SVG = "http://www.w3.org/2000/svg"

#: How bars are filled by their place in the palette: with a level of grey, or with what is drawn on tiles, turned by degrees.
_LINE = '<path d="M0,2.5h5" stroke="black" stroke-width="0.9"/>'
_CROSS = f'{_LINE}<path d="M2.5,0v5" stroke="black" stroke-width="0.9"/>'
_DOT = '<circle cx="2.5" cy="2.5" r="0.9" fill="black"/>'
_HATCHES = (
    "#808080",
    (_LINE, -45),
    (_DOT, 0),
    (_LINE, 45),
    "#d9d9d9",
    (_LINE, 0),
    (_CROSS, 45),
    (_LINE, 90),
)

#: How points are filled by their place in the palette.
_LEVELS = ("#000000", "#ffffff", "#8c8c8c", "#cccccc", "#404040", "#e6e6e6", "#666666", "#b3b3b3")

#: What begins the name of a hatch in an SVG, before its place.
HATCH = "hatch-"

_PATTERN = (
    f'<pattern xmlns="{SVG}" id="{HATCH}{{place}}" width="5" height="5" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate({turn})"><rect width="5" height="5" fill="white"/>{mark}</pattern>'
)

_RGB = re.compile(r"rgb\((\d+), ?(\d+), ?(\d+)\)")


def in_grey(svg: str) -> str:
    """An SVG of a chart without colours."""
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(svg)
    has_bars = any("mark-rect role-mark" in group.get("class", "") and _places(group) for group in root.iter(f"{{{SVG}}}g"))
    used = dict[int, tuple[str, int]]()
    _grey(root, "", used, has_bars=has_bars)
    for place, (mark, turn) in sorted(used.items()):
        root.insert(0, ElementTree.fromstring(_PATTERN.format(place=place, mark=mark, turn=turn)))
    return ElementTree.tostring(root, encoding="unicode")


def _places(group: ElementTree.Element) -> list[int]:
    return [colours.PALETTE.index(fill) for part in group if (fill := part.get("fill")) in colours.PALETTE]


def _grey(part: ElementTree.Element, group: str, used: dict[int, tuple[str, int]], *, has_bars: bool) -> None:
    group = part.get("class", group)
    fill, stroke = part.get("fill"), part.get("stroke")
    is_bar = "mark-rect role-mark" in group or (has_bars and "role-legend-symbol" in group)
    if fill in colours.PALETTE:
        place = colours.PALETTE.index(fill)
        hatch = _HATCHES[place] if is_bar else _LEVELS[place]
        if not isinstance(hatch, str):
            used[place] = hatch
        part.set("fill", hatch if isinstance(hatch, str) else f"url(#{HATCH}{place})")
        part.set("stroke", "#000000")
        part.set("stroke-width", "0.5")
    elif fill is not None:
        part.set("fill", level(fill))
    if stroke in colours.PALETTE:
        part.set("stroke", "#000000")
    elif stroke is not None:
        part.set("stroke", level(stroke))
    if (stop := part.get("stop-color")) is not None:
        part.set("stop-color", level(stop))
    for inner in part:
        _grey(inner, group, used, has_bars=has_bars)


def level(colour: str) -> str:
    """The grey that is as light as a colour (WCAG 2.2, relative luminance); what is no colour stays."""
    found = _RGB.fullmatch(colour)
    if found is not None:
        parts = [int(part) / 255 for part in found.groups()]
    elif re.fullmatch("#[0-9a-f]{6}", colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    else:
        return colour
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    light = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    shown = light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return "#" + f"{round(255 * shown):02x}" * 3
