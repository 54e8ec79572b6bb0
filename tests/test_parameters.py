import pytest

from sojourn.catalogue import Parameter
from sojourn.scenario import parameters

KNOWN = [
    Parameter(name="target", kind="duration", default=5 * 10**9, minimum=1),
    Parameter(name="beta", kind="number", default=0.7, minimum=0, maximum=1),
    Parameter(name="burst", kind="integer", default=3, minimum=1),
    Parameter(name="fast", kind="boolean", default=True),
    Parameter(name="mode", kind="choice", default="rate", choices=("rate", "delay")),
    Parameter(name="segment", kind="size", default=1448),
    Parameter(name="pace", kind="rate", default=10**6, maximum=10**9),
]


def test_kinds_in_base_units() -> None:
    """Each kind of parameter is read into its base unit."""
    given = {"target": "2 ms", "beta": 1, "burst": 4, "fast": False, "mode": "delay", "segment": "1 kB", "pace": "2 kbit/s"}
    assert parameters.read(given, KNOWN, "it") == {
        "target": 2 * 10**9,
        "beta": 1.0,
        "burst": 4,
        "fast": False,
        "mode": "delay",
        "segment": 1000,
        "pace": 2000,
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("taget", "2 ms", 'unknown key of it "taget", did you mean "target"'),
        ("target", 2, "target: 2 has no unit"),
        ("target", "0 s", r"target: 0 s is out of range \(at least 1 ps\)"),
        ("beta", 1.5, r"beta: 1.5 is out of range \(at least 0, at most 1\)"),
        ("beta", float("nan"), "beta: nan is not a finite number"),
        ("beta", True, "beta: True is not a number"),
        ("burst", 2.5, "burst: 2.5 is not an integer"),
        ("fast", 1, "fast: 1 is not a boolean"),
        ("mode", "rat", 'mode: unknown choice "rat", did you mean "rate"'),
        ("pace", "2 Gbit/s", r"pace: 2 Gbit/s is out of range \(at most 1 Gbit/s\)"),
    ],
)
def test_bad_parameters(name: str, value: object, message: str) -> None:
    """The error of a wrong parameter has its name and what is allowed."""
    with pytest.raises(ValueError, match=message):
        parameters.read({name: value}, KNOWN, "it")
