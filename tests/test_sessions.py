"""Sessions: exchanges, pages and connection vectors; what a scenario says of them, and what a result does."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from sojourn import _engine
from sojourn.analysis import summary
from sojourn.analysis.result import Result
from sojourn.campaign import cautions, randomness
from sojourn.catalogue.published_sizes import PUBLISHED, CutOff
from sojourn.errors import InputError
from sojourn.scenario import Scenario, from_data
from sojourn.scenario.vectors import read
from sojourn.specification import RunSpecification, specify, text
from sojourn.store import Store

#: The figures of the ns manual, section "Connection Vectors": two connections in the original and in the alternate format.
FIGURES = {
    "original": """\
SEQ 6851 1 21217 555382
w 64800 6432
r 1176194
l 0.000000 0.000000
> 245
t 51257
< 510
t 6304943

CONC 1429381 2 2 26876 793318
w 65535 5840
r 36556
l 0.000000 0.000000
c> 222
t> 62436302
c< 726
t< 62400173
c> 16
t> 725
c< 84
t< 130
""",
    "alternate": """\
S 6851 1 21217 555382
m 1460 1460
w 64800 6432
r 1176194
l 0.000000 0.000000
I 0 0 245
A 0 51257 510
A 6304943 0 0

C 1429381 2 2 26876 793318
w 65535 5840
r 36556
l 0.000000 0.000000
I 0 0 222
A 0 0 726
I 62436302 0 16
A 62400173 0 84
I 725 0 0
A 130 0 0
""",
}

FAST = {"rate": "1 Gbit/s"}

TURNS = {"objects": 1, "multiplexed": True, "interleaved": True}

USERS = {"users": 2, "think": "500 ms"}

#: A sequential and a concurrent connection, as in Weigle et al. 2006: times in microseconds.
TMIX = """\
SEQ 6000 2 21217 555397
w 64240 6432
r 1176194
l 0.000000 0.000000
> 245
t 51257
< 510
t 6304943
> 1447
< 0  # nothing is written
CONC 1000 2 1 21217 555398
c> 2
t> 88
c> 6
t< 36
c< 14
"""


def given(*flows: Mapping[str, Any], duration: str = "5 s") -> dict[str, Any]:
    """A dumbbell of 10 Mbit/s and 20 ms with these flows."""
    hosts = {side: [{"name": name, **FAST} for name in names] for side, names in (("senders", "ab"), ("receivers", "cd"))}
    return {
        "name": "sessions",
        "duration": duration,
        "network": {"dumbbell": {**hosts, "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": "fq_codel"}}},
        "flows": [{"from": "a", "to": "c", "tcp": "cubic", **flow} for flow in flows],
    }


def specified(*flows: Mapping[str, Any], folder: Path | None = None) -> RunSpecification:
    return specify(Scenario.of(given(*flows), folder), 1)


def test_applications_of_flows() -> None:
    """A page has published sizes and six connections by default, a multiplexed one has one; other flows have no such key."""
    page, one, exchange, plain = specified(
        {"page": {"objects": 3}},
        {"page": {"objects": 0, "multiplexed": True, "first": "20 kB"}, "arrivals": USERS},
        {"exchange": {"response": "10 kB", "think": "1 s"}},
        {},
    )["flows"]
    of_page = page["application"]["page"]
    assert (of_page["connections"], of_page["objects"], of_page["request"]) == (6, {"fixed": 3}, {"fixed": 350})
    assert of_page["size"]["lognormal"]["mean"] == 7758
    assert one["application"]["page"] == {
        **of_page,
        "first": {"fixed": 20_000},
        "objects": None,
        "connections": 1,
        "multiplexed": True,
    }
    assert one["arrivals"]["sizes"] is None
    assert exchange["application"]["exchanges"]["think"] == 10**12
    assert "application" not in plain


def test_frames_of_a_specification() -> None:
    """Interleaved responses have the frames of RFC 9113 by default; other pages have none."""
    turns, larger, in_order = (
        flow["application"]["page"].get("frame")
        for flow in specified(
            {"page": TURNS}, {"page": {**TURNS, "frame": "64 KiB"}}, {"page": {"objects": 1, "multiplexed": True}}
        )["flows"]
    )
    assert (turns, larger, in_order) == (16_384, 65_536, None)


def test_published_number_of_objects() -> None:
    """The number of embedded objects is that of 3GPP2 C.R1002-0: 5.64 in the mean, 53 at most.

    Rounding to whole numbers may move the mean by less than one in a hundred.
    """
    points = PUBLISHED["web-objects"].sizes
    assert not isinstance(points, CutOff)
    shares = [share for _, share in points]
    mean = sum(number * (share - before) for (number, share), before in zip(points, [0.0, *shares], strict=False))
    assert mean == pytest.approx(5.64, rel=0.01)
    assert (points[0][0], points[-1]) == (0, (53, 1.0))
    assert [number for number, _ in points] == list(range(54))


def test_objects_are_drawn(tmp_path: Path) -> None:
    """Pages have as many objects as their distribution says: of a file with none and three, each about half the time."""
    (tmp_path / "objects.csv").write_text("objects,probability\n0,0.5\n2,0.5\n3,1\n")
    objects = {"distribution": "empirical", "file": "objects.csv"}
    page = {"objects": objects, "size": "1 kB", "first": "1 kB"}
    data = given({"page": page, "arrivals": {"process": "poisson", "rate": 40}}, duration="10 s")
    rows = sojourn.run(from_data(data, "a scenario", tmp_path)).transfers.filter(kind="page")["bytes"]
    assert set(rows.unique()) == {1_000, 4_000}
    # Four standard errors of a fair coin.
    assert abs(rows.to_list().count(1_000) / rows.len() - 0.5) < 2 / rows.len() ** 0.5


def test_sessions_are_not_long_lived() -> None:
    """Flows with an application count in no index of fairness: they do not want all that they can get."""
    assert _engine.long_lived(text(specified({"exchange": {"response": "10 kB"}, "start": "0 s"}, {"start": "0 s"}))) == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        ({"page": {"objects": 1}, "size": "1 kB"}, "size: the page says how much is sent"),
        ({"page": {"objects": 1}, "exchange": {"response": "1 kB"}}, 'page: give either "page" or "exchange"'),
        ({"page": {"objects": 1, "connections": 2, "multiplexed": True}}, "connections: a multiplexed page has one"),
        (
            {"page": {"objects": 1, "interleaved": True}},
            "interleaved: only the responses of a multiplexed page share a connection",
        ),
        ({"page": {"objects": 1, "multiplexed": True, "frame": "1 kB"}}, "frame: only interleaved responses have frames"),
        ({"page": {**TURNS, "frame": "17 MB"}}, "page.frame: must be less than or equal to 16777215"),
        ({"page": {"objects": -1}}, "page.objects: must be a whole number from 0 to 10,000, or a distribution"),
        ({"page": {"objects": "many"}}, "page.objects: must be a whole number from 0 to 10,000, or a distribution"),
        ({"page": {"objects": {"distribution": "exponential"}}}, 'exponential numbers need "mean"'),
        ({"page": {"objects": {"distribution": "exponential", "mean": 0.5}}}, "must be greater than or equal to 1"),
        ({"page": {"objects": {"distribution": "pareto", "shape": 1, "least": 2}}}, "shape: the mean is infinite at 1"),
        (
            {"page": {"objects": {"distribution": "pareto", "shape": 1, "least": 20, "most": 3}}},
            "most: 3 must be more than least, 20",
        ),
        ({"page": {"objects": {"distribution": "empirical", "name": "web-search"}}}, "must be 'web-objects'"),
        ({"page": {"objects": 1}, "tcp": "voice"}, "page: voice opens no connection"),
        ({"exchange": {"response": "1 kB"}, "arrivals": USERS}, 'exchange: a session without "count" never ends'),
        ({"exchange": {"response": "1 kB", "count": 0}}, "exchange.count: must be greater than or equal to 1"),
        ({"arrivals": USERS}, 'arrivals: give "size", a quantity or a distribution, or "page", "exchange" or "video"'),
    ],
)
def test_bad_sessions_are_refused(flow: Mapping[str, Any], expected: str) -> None:
    """What contradicts itself, and a session that can never end, is refused in one line that says why."""
    with pytest.raises(InputError) as error:
        from_data(given(flow), "a scenario")
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_connection_vectors(tmp_path: Path) -> None:
    """Both kinds of vectors are read, in order of their beginnings, with waits before the write that they precede."""
    (tmp_path / "tmix").write_text(TMIX)
    flow = specified({"vectors": "tmix"}, folder=tmp_path)["flows"][0]
    concurrent, sequential = flow["application"]["vectors"]["vectors"]
    microsecond = 10**6
    assert flow["arrivals"]["process"]["listed"] == [(1000 * microsecond, 1), (6000 * microsecond, 1)]
    writes = [(write["at_server"], write["wait"] // microsecond, write["bytes"]) for write in sequential["writes"]]
    assert writes == [(False, 0, 245), (True, 51_257, 510), (False, 6_304_943, 1447)]
    writes = [(write["at_server"], write["wait"] // microsecond, write["bytes"]) for write in concurrent["writes"]]
    assert writes == [(False, 0, 2), (False, 88, 6), (True, 36, 14)]
    assert (concurrent["concurrent"], sequential["concurrent"]) == (True, False)


def test_both_formats_of_vectors(tmp_path: Path) -> None:
    """The two figures of the ns manual are of the same connections, each in one format."""
    found = {}
    for name, written in FIGURES.items():
        (tmp_path / name).write_text(written)
        found[name] = read(tmp_path / name).vectors
    sequential, concurrent = found["original"]
    assert found["alternate"] == (sequential, concurrent)
    assert [(write.at_server, write.wait, write.size) for write in sequential.writes] == [
        (False, 0, 245),
        (True, 51_257 * 10**6, 510),
    ]
    assert (concurrent.start, concurrent.concurrent, len(concurrent.writes)) == (1_429_381 * 10**6, True, 4)


def test_waits_after_own_writes(tmp_path: Path) -> None:
    """In the alternate format an end that writes again waits after its own write, in either kind of connection."""
    (tmp_path / "tmix").write_text("S 0 2 0 1\nI 5 0 10\nI 7 0 20\nA 0 9 30\n")
    (vector,) = read(tmp_path / "tmix").vectors
    assert [write.wait // 10**6 for write in vector.writes] == [5, 7, 9]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "has no connections"),
        ("> 1\n", 'line 1: ">" before the first of SEQ, CONC, S, C'),
        ("S 0\n", "line 1: S needs a start and a number of epochs"),
        ("S 0 1\nI 0 0\n", 'line 2: "I" needs send_wait_time, recv_wait_time, bytes'),
        ("S 0 1\n> 1\n", 'line 2: ">" in a sequential connection; known: I, A, l, m, r, w'),
        ("S 0 1\nI 0 0 1\nA 3 0 1\n", 'line 3: "A" answers the line before; its send_wait_time must be 0'),
        ("S 0 2\nI 0 0 1\nI 0 3 1\n", 'line 3: "I" answers nothing; its recv_wait_time must be 0'),
        ("C 0 1 0\nI 0 3 1\n", 'line 2: "I" answers nothing; its recv_wait_time must be 0'),
        ("S 0 2\nI 0 0 1\nI 0 0 0\nI 0 0 1\n", 'line 4: "I" after its line of 0 bytes, which closes the connection'),
        ("S 0 1\nI 0 0 0\n", "line 1: a connection on which nothing is written never ends"),
        ("S 0 1\nI 0 0 1\nSEQ 0 1\n> 1\n", 'line 3: "SEQ" in a sequential connection'),
        ("SEQ 0\n", "line 1: SEQ needs a start and a number of epochs"),
        ("SEQ 0 1\n> x\n", 'line 2: "x" must be a whole number'),
        ("SEQ 0 1\n> " + "9" * 5000, "must be a whole number"),
        ("SEQ 0 1\n>\n", 'line 2: ">" needs one number'),
        ("SEQ 0 1\nc> 1\n", 'line 2: "c>" in a sequential connection'),
        ("SEQ 0 1\n> 1\n> 1\n", "line 1: 2 epochs, but the line says 1"),
        ("\nCONC 0 1 0\nc< 1\n", "line 2: 0 and 1 writes, but the line says 1 and 0"),
        ("SEQ 0 1\nt 5\n", "line 1: a connection on which nothing is written never ends"),
    ],
)
def test_bad_vectors_are_refused(text: str, expected: str, tmp_path: Path) -> None:
    """A file that is none of connection vectors is refused with its name and the line."""
    (tmp_path / "tmix").write_text(text)
    with pytest.raises(InputError, match="tmix") as error:
        from_data(given({"vectors": "tmix"}), "a scenario", tmp_path)
    assert expected in str(error.value)


@pytest.fixture(scope="module")
def found() -> Result:
    """Pages of users beside exchanges."""
    page = {"objects": 4, "size": "10 kB", "first": "10 kB"}
    exchange = {"response": "20 kB", "count": 5, "think": "100 ms"}
    flows = (
        {"page": page, "arrivals": USERS, "group": "pages"},
        {"exchange": exchange, "start": "0 s", "group": "exchanges"},
    )
    return sojourn.run(from_data(given(*flows), "a scenario"))


def test_rows_of_sessions(found: Result) -> None:
    """Each page has a row beside those of its requests, whose bytes add up to its own; it takes longer than any of them."""
    rows = found.transfers.filter(pl.col("flow_group") == "pages")
    pages = rows.filter(kind="page")
    assert pages.height > 5
    for page in pages.iter_rows(named=True):
        assert page["bytes"] == 50_000
        assert page["completion_time"] >= page["ideal_time"]
    requests = rows.filter(kind="request")
    assert requests.height >= 5 * pages.height
    assert found.transfers.filter((pl.col("flow_group") == "exchanges") & (pl.col("kind") == "request")).height == 5
    assert found.flows.filter(flow_group="exchanges")["bytes_delivered"].item() == 5 * 20_000


def test_metrics_of_sessions(found: Result) -> None:
    """Page load and response times are those of their rows; sessions have no completion time of transfers."""
    groups = {row["flow_group"]: row for row in found.groups.rows(named=True)}
    pages = found.transfers.filter(kind="page")["completion_time"]
    assert groups["pages"]["page_load_time_mean_s"] == pytest.approx(pages.mean())
    assert groups["pages"]["page_load_time_p50_s"] == pytest.approx(pages.median(), rel=0.2)
    assert groups["pages"]["transfers_completed"] == pages.len()
    assert groups["exchanges"]["page_load_time_mean_s"] is None
    exchanges = found.transfers.filter(pl.col("flow_group") == "exchanges")["completion_time"]
    assert groups["exchanges"]["response_time_mean_s"] == pytest.approx(exchanges.mean())
    assert groups["pages"]["fct_mean_s"] is None
    table = summary.transfers(found)
    assert table is not None
    shown = {name for column in table.columns for name in column.names}
    assert "page_load_time_mean_s" in shown
    assert "fct_mean_s" not in shown


def test_sessions_are_stored(tmp_path: Path) -> None:
    """Rows of sessions go through a store unchanged, and SQL tells pages from requests."""
    scenario = from_data(given({"page": {"objects": 2}}, duration="3 s"), "a scenario")
    kept, direct = sojourn.run(scenario, out=tmp_path / "results"), sojourn.run(scenario)
    assert kept.transfers.equals(direct.transfers)
    with Store(tmp_path / "results") as store:
        asked = store.sql("select kind, count(*) from transfers group by kind order by kind")
    assert asked.rows() == [("page", 1), ("request", 3)]


def test_randomness_of_sessions() -> None:
    """Drawn sizes and think times are told, and none where all is fixed."""
    fixed = {"exchange": {"response": "1 kB", "count": 2}, "start": "0 s"}
    assert "sessions" not in dict(randomness.parts(specified(fixed)))
    assert "sessions" in dict(randomness.parts(specified({"page": {"objects": 1}, "start": "0 s"})))
    drawn = {"objects": {"distribution": "exponential", "mean": 3}, "first": "1 kB", "size": "1 kB"}
    assert "sessions" in dict(randomness.parts(specified({"page": drawn, "start": "0 s"})))


def test_load_of_pages() -> None:
    """The load of pages that arrive is that of what the server sends; above one it never drains, which is told."""
    heavy = {"page": {"objects": 9, "first": "100 kB", "size": "100 kB"}, "arrivals": {"process": "poisson", "rate": 2}}
    (line,) = cautions.warnings(specified(heavy))
    assert line.startswith("arrivals: a load of 1.")
    assert cautions.warnings(specified({**heavy, "arrivals": {"process": "poisson", "rate": 1}})) == ()


def test_load_of_requests() -> None:
    """What clients send is a load of the way back: ten requests of 150 kB a second are more than 10 Mbit/s carry.

    A load of the answers says how many there are: 0.5 of 10 Mbit/s is 62.5 answers of 10 kB, and as many requests.
    """
    for arrivals, request, response in (({"rate": 10}, "150 kB", "1 kB"), ({"load": 0.5}, "30 kB", "10 kB")):
        exchange = {"request": request, "response": response, "count": 1}
        uploads = {"exchange": exchange, "arrivals": {"process": "poisson", **arrivals}}
        (line,) = cautions.warnings(specified(uploads))
        assert line.startswith("arrivals: a load of 1.")
        assert "right -> left" in line
