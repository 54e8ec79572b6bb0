"""Where files of plugins may be that scenarios name. A program that calls Sojourn decides for itself; the command line asks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class _State:
    is_asked_for = False
    #: Files as the command line names them.
    named: frozenset[str] = frozenset()


_state = _State()


@contextmanager
def asked_for() -> Iterator[None]:
    """Meanwhile the files of a scenario's plugins must be in its folder, unless trust is given."""
    before = (_state.is_asked_for, _state.named)
    _state.is_asked_for, _state.named = True, frozenset()
    try:
        yield
    finally:
        _state.is_asked_for, _state.named = before


def give() -> None:
    """Files of plugins may be anywhere."""
    _state.is_asked_for = False


def name(file: str) -> None:
    """The command line names this file itself."""
    _state.named |= {file}


def check(file: str, folder: Path) -> None:
    """Checks that a scenario in a folder may name this file.

    Raises:
        ValueError: it is elsewhere, behind a symbolic link perhaps, and nobody trusts it.
    """
    if not _state.is_asked_for or file in _state.named or (folder / file).resolve().is_relative_to(folder.resolve()):
        return
    raise ValueError(f'"{file}" is outside the folder of the scenario, and its code would run; allow that with --trust')
