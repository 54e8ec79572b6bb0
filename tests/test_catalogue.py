import pytest

from sojourn import catalogue
from sojourn.catalogue import Algorithm, Parameter
from sojourn.scenario import parameters

KNOWN = catalogue.load()
ALGORITHMS = [*KNOWN.congestion_controls, *KNOWN.queues]


def test_what_the_papers_evaluated_is_there() -> None:
    assert {"newreno", "cubic", "compound"} <= {entry.name for entry in KNOWN.congestion_controls}
    assert {"droptail", "pie", "codel"} <= {entry.name for entry in KNOWN.queues}
    assert {"rfc", "ns3-3.30", "ns3-3.48"} <= {entry.name for entry in KNOWN.profiles}


@pytest.mark.parametrize("entries", [KNOWN.congestion_controls, KNOWN.queues, KNOWN.profiles])
def test_every_name_and_alias_finds_its_entry(entries: tuple[catalogue.Entry, ...]) -> None:
    for entry in entries:
        for name in (entry.name, *entry.aliases, entry.name.upper()):
            assert catalogue.find("entry", name, entries) is entry


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda entry: entry.name)
def test_every_parameter_says_what_it_is_and_whence(algorithm: Algorithm) -> None:
    assert algorithm.title
    for parameter in algorithm.parameters:
        assert parameter.doc
        assert parameter.source


@pytest.mark.parametrize(
    "parameter",
    [parameter for entry in ALGORITHMS for parameter in entry.parameters] + list(KNOWN.stack_settings),
    ids=lambda parameter: parameter.name,
)
def test_every_default_can_be_written_in_a_scenario(parameter: Parameter) -> None:
    written = parameter.format(parameter.default) if parameter.has_unit else parameter.default
    assert parameters.read({parameter.name: written}, [parameter], "it") == {parameter.name: parameter.default}


def test_profiles_hold_every_stack_setting() -> None:
    for profile in KNOWN.profiles:
        assert {setting.name for setting in profile.settings} == {setting.name for setting in KNOWN.stack_settings}
        assert all(setting.source for setting in profile.settings)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match='unknown queue discipline "codle", did you mean "codel"'):
        KNOWN.queue("codle")
