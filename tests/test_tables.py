import sojourn
from doubles import RatePerAlgorithm
from sojourn import api
from sojourn.campaign import plan, run
from sojourn.store import InMemory
from sojourn.study import cells, library, tables
from sojourn.study.design import StudyTable
from sojourn.table import Table, render

ONLY = {"scenario": "DC", "load": "MC", "tcp": "mixed", "queue": ["pie", "codel"]}


def rendered(table: Table) -> list[list[str]]:
    """Returns the printed rows as lists of their cells."""
    rows = [line.strip("│┃") for line in render(table, 200).splitlines() if line.startswith(("│", "┃"))]
    return [[cell.strip() for cell in row.replace("┃", "│").split("│")] for row in rows]


def test_layout_of_paper() -> None:
    """Tables have the paper's layout, and values that do not agree have an asterisk."""
    found = sojourn.reproduce("piotrowska", only=ONLY, backend=RatePerAlgorithm())
    ten, eleven = tables.study_tables(found.study, found.comparison)
    rows = rendered(ten)
    assert rows[:2] == [["", "", "", "pie", "codel"], ["load", "tcp", "metric", "published | ours", "published | ours"]]
    assert rows[2] == ["MC", "newreno", "avg_mbps", "9.85 | 1.00 *", "9.84 | 1.00 *"]
    assert rows[3] == ["", "", "sd_mbps", "0.48 | 0.00", "0.50 | 0.00"]
    assert rows[4] == ["", "", "share_pct", "31 | 16.7 *", "31 | 16.7 *"]
    assert rows[5] == ["", "", "jain", "1.00 | 1.00", "1.00 | 1.00"]
    assert [row[1] for row in rows[2:] if row[1]] == ["newreno", "cubic", "compound", "all"]
    assert rendered(eleven)[2] == ["MC", "queue_mean_pkts", "167 | 1.0 *", "209 | 1.0 *"]


def test_intervals() -> None:
    """With several seeds, tables show the interval, 2 ± 2.48 of 1, 2 and 3, from 0 on, and digits as it has."""
    found = sojourn.reproduce("piotrowska", 3, only=ONLY, backend=RatePerAlgorithm())
    ten, _ = tables.study_tables(found.study, found.comparison)
    assert rendered(ten)[2][3] == "9.85 | 2 [0, 4] *"


def test_agreement_counts() -> None:
    """Agreement is counted for each table and in total."""
    found = sojourn.reproduce("piotrowska", only=ONLY, backend=RatePerAlgorithm())
    counted = {row[0]: (int(row[2]), int(row[3])) for row in rendered(tables.agreement_table(found.comparison))[1:]}
    assert counted == {
        str(number): (sum(bool(cell.agrees) for cell in cells), len(cells))
        for number, cells in {
            10: [cell for cell in found.comparison if cell.published.table.number == 10],
            11: [cell for cell in found.comparison if cell.published.table.number == 11],
            "all": found.comparison,
        }.items()
    }
    assert 0 < counted["all"][0] < counted["all"][1] == 38


def test_unpublished_values() -> None:
    """A study without published values has a value for each metric of each cell its tables select."""
    study = library.load("piotrowska").model_copy(
        update={
            "published": None,
            "tables": [
                StudyTable(number=1, title="Ours", select={"tcp": "mixed", "queue": ["pie"]}, metrics=["jain", "q1_mbps"])
            ],
        }
    )
    values = library.published_values(study)
    assert len(values) == 2 * 3 * 2  # scenarios, loads, metrics
    backend = RatePerAlgorithm()
    planned = plan(api.study_campaign(study, only=ONLY), backend)
    compared = cells.compare(values, api.complete(run(planned, backend, InMemory())), list(study.axes))
    (table,) = tables.study_tables(study, compared)
    assert rendered(table) == [
        ["scenario", "load", "metric", "pie"],
        ["DC", "MC", "jain", "0.86"],
        ["", "", "q1_mbps", "1.00"],
    ]
    frame = cells.frame(study, compared)
    assert frame["published"].null_count() == frame["agrees"].null_count() == frame.height == 2
    assert not cells.agreement(compared)


def test_unpublished_values_by_algorithm() -> None:
    """A table by algorithm without published values has a row for each algorithm and for all."""
    study = library.load("piotrowska").model_copy(
        update={
            "published": None,
            "tables": [
                StudyTable(
                    number=1, title="Ours", select={"tcp": "mixed", "queue": ["pie"]}, metrics=["avg_mbps"], algorithms="tcp"
                )
            ],
        }
    )
    values = library.published_values(study)
    assert len(values) == 2 * 3 * 4  # scenarios, loads, algorithms
    backend = RatePerAlgorithm()
    planned = plan(api.study_campaign(study, only=ONLY), backend)
    compared = cells.compare(values, api.complete(run(planned, backend, InMemory())), list(study.axes))
    (table,) = tables.study_tables(study, compared)
    assert rendered(table) == [
        ["scenario", "load", "tcp", "metric", "pie"],
        ["DC", "MC", "newreno", "avg_mbps", "1.00"],
        ["", "", "compound", "avg_mbps", "2.00"],
        ["", "", "cubic", "avg_mbps", "3.00"],
        ["", "", "all", "avg_mbps", "2.00"],
    ]
    assert cells.frame(study, compared)["tcp"].to_list() == ["newreno", "compound", "cubic", "all"]
