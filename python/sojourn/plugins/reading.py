"""Reading a plugin that somebody names: what is wrong with it is bad input."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from sojourn.errors import CompilationFailed, InputError
from sojourn.plugins import source
from sojourn.plugins.source import Source


@contextlib.contextmanager
def reading(file: Path) -> Iterator[Source]:
    """The source of a file, in C perhaps a module of Linux; what is wrong with it, also meanwhile, is an ``InputError``."""
    try:
        yield source.read(file, source.is_linux(file))
    except ValueError as error:
        wrong = InputError(str(error))
        wrong.output = error.output if isinstance(error, CompilationFailed) else ""
        raise wrong from None
