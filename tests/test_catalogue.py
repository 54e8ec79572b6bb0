import pytest

from sojourn import catalogue
from sojourn.catalogue import Algorithm, Parameter
from sojourn.scenario import parameters

KNOWN = catalogue.load()
ALGORITHMS = [*KNOWN.congestion_controls, *KNOWN.queues]


def test_papers_algorithms_exist() -> None:
    """The catalogue has the algorithms and profiles that the papers evaluate."""
    assert {"newreno", "cubic", "compound"} <= {entry.name for entry in KNOWN.congestion_controls}
    assert {"droptail", "pie", "codel"} <= {entry.name for entry in KNOWN.queues}
    assert {"rfc", "ns3-3.30", "ns3-3.48"} <= {entry.name for entry in KNOWN.profiles}


@pytest.mark.parametrize("entries", [KNOWN.congestion_controls, KNOWN.queues, KNOWN.profiles])
def test_names_and_aliases(entries: tuple[catalogue.Entry, ...]) -> None:
    """Every name and alias finds its entry, in upper or lower case."""
    for entry in entries:
        for name in (entry.name, *entry.aliases, entry.name.upper()):
            assert catalogue.find("entry", name, entries) is entry


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda entry: entry.name)
def test_parameters_are_documented(algorithm: Algorithm) -> None:
    """Every algorithm has a title, and every parameter a description and a source."""
    assert algorithm.title
    for parameter in algorithm.parameters:
        assert parameter.doc
        assert parameter.source


@pytest.mark.parametrize(
    "parameter",
    [parameter for entry in ALGORITHMS for parameter in entry.parameters] + list(KNOWN.stack_settings),
    ids=lambda parameter: parameter.name,
)
def test_defaults_can_be_written(parameter: Parameter) -> None:
    """Every default, written as in a scenario, is read as the same value."""
    written = parameter.format(parameter.default) if parameter.has_unit else parameter.default
    assert parameters.read({parameter.name: written}, [parameter], "it") == {parameter.name: parameter.default}


def test_profiles_are_complete() -> None:
    """Every profile has all stack settings, each with its source."""
    for profile in KNOWN.profiles:
        assert {setting.name for setting in profile.settings} == {setting.name for setting in KNOWN.stack_settings}
        assert all(setting.source for setting in profile.settings)


def test_profiles_defaults_are_allowed() -> None:
    """Every default for one algorithm in a profile is of something that exists, a value it allows, and has a source."""
    defaults = [(profile, default) for profile in KNOWN.profiles for default in profile.defaults]
    assert defaults
    for profile, default in defaults:
        parameter = profile.parameter_of(default)
        assert default.source
        if parameter is None:
            assert default.parameter == "name"
            assert KNOWN.slow_start(str(default.value)).name == default.value
            continue
        written = parameter.format(default.value) if parameter.has_unit else default.value
        assert parameters.read({default.parameter: written}, [parameter], "it") == {default.parameter: default.value}
        usual = {setting.name: setting.value for setting in profile.settings}
        assert default.value != (usual[parameter.name] if default.kind == "stack" else parameter.default)


def test_unknown_name_suggests_nearest() -> None:
    """An unknown name is an error that suggests the nearest one."""
    with pytest.raises(ValueError, match='unknown queue discipline "codle", did you mean "codel"'):
        KNOWN.queue("codle")


@pytest.mark.parametrize(
    ("profile", "name", "expected"),
    [
        ("ns3-3.30", "hybla", {"rtt0": 50 * 10**9, "counting": "recommended"}),
        ("ns3-3.48", "hybla", {"rtt0": 50 * 10**9, "counting": "recommended"}),
        ("ns3-3.48", "ledbat", {"begins_with_slow_start": True, "counting": "recommended"}),
        ("ns3-3.48", "dctcp", {"counting": "segments"}),
    ],
)
def test_defaults_of_ns3(profile: str, name: str, expected: dict[str, object]) -> None:
    """The attributes RRTT of tcp-hybla.cc and SSParam of tcp-ledbat.cc, and what their and tcp-linux-reno.cc's growth counts."""
    algorithm = catalogue.find("congestion control", name, KNOWN.congestion_controls)
    settings = KNOWN.profile(profile)
    found = settings.settings_with(algorithm) | settings.defaults_of(algorithm)
    assert {key: found[key] for key in expected} == expected


def test_profile_of_data_centres() -> None:
    """It is Linux but for timers and ECN: RTO_min of Alizadeh et al. (SIGCOMM 2010, section 4), a delayed ACK a tick before."""
    usual = {setting.name: setting.value for setting in KNOWN.profile("linux-6").settings}
    found = {setting.name: setting.value for setting in KNOWN.profile("datacenter").settings}
    ms = 10**9
    expected = {"minimum_rto": 10 * ms, "clock_granularity": 10 * ms, "delayed_ack_timeout": 9 * ms, "ecn": "classic"}
    assert {name: value for name, value in found.items() if usual[name] != value} == expected
    assert usual.keys() == found.keys()
