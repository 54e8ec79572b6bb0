"""What a range has found, in words."""

import polars as pl

from sojourn.exploration.operating import ANY, OperatingRange

#: Rows of each map that are told.
ROWS = 5


def rows(found: OperatingRange) -> pl.DataFrame:
    """Where verdicts begin and end in some rows of each map, with units."""
    x, y = found.plane.x, found.plane.y
    shares = y.shares
    shown = {y.at(shares[round(step * (len(shares) - 1) / (ROWS - 1))]): None for step in range(ROWS)}
    borders = found.borders.filter(pl.col(y.name).is_in(list(shown)))
    told = [
        {
            **{name: row[name] for name in found.choices},
            y.name: y.text(row[y.name]),
            "verdict": f"{ANY}: {row['holds']}" if row["verdict"] == ANY else row["verdict"],
            x.name: f"{row['change']} at {x.text(row['at'])}",
            "95 % interval": f"{row['low']:.4g} to {x.text(row['high'])}",
        }
        for row in borders.iter_rows(named=True)
    ]
    return pl.DataFrame(told, schema=dict.fromkeys([*found.choices, y.name, "verdict", x.name, "95 % interval"], pl.String()))


def lines(found: OperatingRange) -> list[str]:
    """What is said of each map, of verdicts that have no border, and of what could not be asked or run."""
    said: list[str] = []
    for sheet in found.plane.sheets:
        extent = found.extent
        for name, label in sheet.labels.items():
            extent = extent.filter(extent[name] == label)
        where = f"{', '.join(f'{name} {label}' for name, label in sheet.labels.items())}: " if sheet.labels else ""
        shares = dict(extent.select("verdict", "holds_pct").iter_rows())
        if not shares:
            said.append(f"{where}no verdict could be asked")
            continue
        bad = shares.pop(ANY)
        wrong = ", ".join(f"{name} {share:.0f} %" for name, share in shares.items() if share)
        if not bad:
            said.append(f"{where}no border: the pair gets along everywhere")
        elif bad == 100 and all(share in (0, 100) for share in shares.values()):
            everywhere = ", ".join(name for name, share in shares.items() if share)
            said.append(f"{where}no border: the pair gets along nowhere; {everywhere} everywhere")
        else:
            said.append(f"{where}gets along on {100 - bad:.0f} % of the map; {wrong}")
    if found.never:
        said.append(f"Could not be asked here: {', '.join(found.never)}")
    if found.problem is not None:
        said.append(f"Some points could not be run; the first problem: {found.problem}")
    return [*said, f"{found.runs} runs of {len(found.tried)} points"]
