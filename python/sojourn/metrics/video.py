"""The metrics of video: bit rate, stalls, start delay and changes of the bit rate."""

from functools import partial
from typing import TYPE_CHECKING, Any

from sojourn.metrics import formulas
from sojourn.metrics.metric import Better, Metric

if TYPE_CHECKING:
    from sojourn.metrics.observation import Observation

SOURCE = "Huang et al., SIGCOMM 2014, section 4"


def _rate(seen: "Observation") -> float | None:
    playing = seen.flows.of(seen.flows["video_played"] > 0)
    played = playing["video_played"]
    return formulas.total(playing["video_mbps"] * played) / formulas.total(played) if len(played) else None


def _of_videos(seen: "Observation", column: str) -> float:
    """The sum of a column over flows of video."""
    values = seen.flows[column]
    return formulas.total(values[values == values])


def _stalled(seen: "Observation") -> float | None:
    stalled = _of_videos(seen, "video_stalled")
    return formulas.percentage(stalled, stalled + _of_videos(seen, "video_played"))


def _per_played(column: str, seconds: int) -> dict[str, Any]:
    """What defines a count in so many seconds that played."""

    def compute(seen: "Observation") -> float | None:
        played = _of_videos(seen, "video_played")
        return seconds * _of_videos(seen, column) / played if played else None

    definition = f"{seconds} Σ `{column}` / Σ `video_played` over flows of `video`; null if nothing played"
    return {"definition": definition, "compute": compute}


_video = partial(Metric, decimals=2, better=Better.LESS, needs="video_played")

#: In the order of tables.
METRICS = (
    _video(
        name="video_mbps",
        title="bit rate of video",
        unit="Mbit/s",
        better=Better.MORE,
        figure="video-rate",
        definition="Σ `video_mbps` · `video_played` / Σ `video_played` over flows of `video`: each second has the same weight",
        source=SOURCE,
        compute=_rate,
        main_of_group=True,
    ),
    _video(
        name="video_stalled_pct",
        title="time in which video stalled",
        unit="%",
        figure="video-stalled",
        definition="100 Σ `video_stalled` / Σ (`video_stalled` + `video_played`) over flows of `video`",
        compute=_stalled,
        main_of_group=True,
        ends=(0, 100),
        bounds=(0, 100),
    ),
    _video(
        name="video_stalls_per_hour",
        title="stalls an hour of video",
        unit="1/h",
        decimals=1,
        figure="video-stalls",
        source=SOURCE,
        **_per_played("video_stalls", 3600),
    ),
    _video(
        name="video_switches_per_minute",
        title="changes of bit rate a minute of video",
        unit="1/min",
        figure="video-switches",
        **_per_played("video_switches", 60),
    ),
    _video(
        name="video_start_delay_s",
        title="start delay of video",
        unit="s",
        figure="video-start-delay",
        definition="mean of `video_start_delay` over the flows that have one",
        needs="video_start_delay",
        compute=lambda seen: formulas.of_known(formulas.mean, seen.flows["video_start_delay"]),
        main_of_group=True,
    ),
)
