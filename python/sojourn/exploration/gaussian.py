"""What the Gaussian processes of searches and ranges have in common: the package, and that their digits depend on no machine."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sojourn.errors import InputError


def check(what: str) -> None:
    """Checks that the package is there, before anything is run.

    Args:
        what: what needs it, such as "a search".

    Raises:
        InputError: it is not.
    """
    try:
        import sklearn.gaussian_process
    except ImportError:
        raise InputError(f"{what} needs the package scikit-learn; install sojourn[search]") from None
    _ = sklearn


@contextmanager
def alone() -> Iterator[None]:
    """Keeps libraries from more threads than one, by which the last digits would depend on the machine's cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a length is at its bound: that coordinate makes no difference
        yield
