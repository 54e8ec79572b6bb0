"""The packets of a link, as Wireshark opens them."""

from pathlib import Path

from sojourn import backends, names
from sojourn.backends.backend import Backend
from sojourn.errors import InputError
from sojourn.exports.places import write_file
from sojourn.runs import Run
from sojourn.specification import RunSpecification, link_name


def write_pcapng(
    run: Run, path: Path, link: str | None = None, comment: str = "", backend: str | Backend = backends.DEFAULT
) -> tuple[str, int]:
    """Carries out a run and writes what passes a link's near end, in both directions, to a file in the format pcapng.

    ``link`` has a name such as ``left->right``; it is the first with a queue unless given. ``comment`` is for the readers of the
    file. Returns the link's name, and how many packets there are.

    Raises:
        InputError: there is no such link, the backend cannot record packets, or there is no place for the file.
        SojournError: the file cannot be written.
    """
    links = link_names(run.specification)
    if link is None:
        link = _first_queue(run.specification, links)
    names.check("link", link, links, InputError, "--link: ")
    recording, number = backends.recording(backend), links.index(link)
    packets = 0

    def write(unfinished: Path) -> None:
        nonlocal packets
        packets = recording.capture(run.specification, number, unfinished, comment)

    write_file(path, write)
    return link, packets


def link_names(run: RunSpecification) -> list[str]:
    """What the links of a run are called, each direction for itself."""
    return [link_name(run, link) for link in run["links"]]


def _first_queue(run: RunSpecification, links: list[str]) -> str:
    queues = (name for name, link in zip(links, run["links"], strict=True) if link["queue"] is not None)
    return next(queues, links[0])
