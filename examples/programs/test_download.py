"""Our client and our server behind a home router: `pytest test_download.py`."""

from pathlib import Path

import pytest

from sojourn import programs

FOLDER = Path(__file__).parent


@pytest.fixture(params=["fq_codel", {"name": "pfifo", "limit": "1000 packets"}], ids=["fq_codel", "pfifo"])
def home(request: pytest.FixtureRequest) -> programs.Network:
    """Returns a line to a home whose router has one queue or the other."""
    return programs.network(rate="20 Mbit/s", delay="20 ms", queue=request.param)


def test_a_download_gets_what_the_line_has(home: programs.Network) -> None:
    """Ten megabytes take their time on the wire, and not a fifth more."""
    outcome = home.run(server="python3 server.py", client="python3 client.py {server} 10000000", duration="20 s", folder=FOLDER)
    at_least = 8 * 10_000_000 / 20_000_000
    assert at_least < float(outcome["client"].output) < 1.2 * at_least


def test_a_page_does_not_wait_for_a_download() -> None:
    """Beside a download 100 kB take less than half a second behind fq_codel."""
    home = programs.network(rate="20 Mbit/s", delay="20 ms", queue="fq_codel")
    outcome = home.run(
        server="python3 server.py",
        client=[
            {"name": "download", "run": "python3 client.py {server} 100000000", "expect": "any"},
            {"name": "page", "run": "python3 client.py {server} 100000 10"},
        ],
        duration="15 s",
        folder=FOLDER,
    )
    assert float(outcome["page"].output) < 0.5
    assert outcome["download"].stopped
