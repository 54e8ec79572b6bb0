"""Video with an adaptive bit rate."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from sojourn import catalogue
from sojourn.scenario.base import Table
from sojourn.scenario.files import from_file, read_rows
from sojourn.scenario.quantities import Duration, PositiveDuration, Rate
from sojourn.units import DURATION, PICOSECONDS

#: The video of Mao, Netravali and Alizadeh, "Neural Adaptive Video Streaming with Pensieve", SIGCOMM 2017, section 5.1, in bit/s:
#: EnvivioDash3 of the DASH-264 test vectors, with segments of 4 s. The buffer is that of its player (sim/env.py, BUFFER_THRESH).
LADDER = tuple(1_000 * rate for rate in (300, 750, 1_200, 1_850, 2_850, 4_300))
SEGMENT, BUFFER = DURATION.parse("4 s"), DURATION.parse("60 s")

#: Of a buffer of 240 s, the reservoir of BBA-0 is 90 s, and reservoir and cushion together are 216 s: Huang et al.,
#: "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014, section 4.
RESERVOIR_OF, FULL_OF = (90, 240), (216, 240)


@dataclass(frozen=True)
class Segments:
    """Segments of variable bit rates: of each its bytes at each rung."""

    name: str
    rows: tuple[tuple[int, ...], ...]

    def ladder(self, segment: int) -> list[int]:
        """The nominal bit rates: of each rung the mean of its segments."""
        return [max(sum(rung) * 8 * PICOSECONDS // (len(rung) * segment), 1) for rung in zip(*self.rows, strict=True)]


def _read_segments(path: Path) -> Segments:
    rows = read_rows(path)
    for number, row in enumerate(rows, start=2):
        if any(size < 1 or size != int(size) for size in row):
            raise ValueError(f'"{path.name}": line {number}: a segment must have a whole number of bytes, 1 or more')
    means = [sum(rung) for rung in zip(*rows, strict=True)]
    for place, (low, high) in enumerate(pairwise(means), start=2):
        if low >= high:
            raise ValueError(f'"{path.name}": column {place} has no more bytes than the one before; bit rates must ascend')
    return Segments(path.name, tuple(tuple(map(int, row)) for row in rows))


_SIZES, _SIZES_SCHEMA = from_file(_read_segments, "CSV of segments: a row a segment, a column a bit rate, bytes.")


class _Rules:
    """The names of the catalogue's rules, for editors."""

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"enum": [rule.name for rule in catalogue.load().video_rules]}


def _known(name: str) -> str:
    return catalogue.load().video_rule(name).name


class Video(Table):
    """A viewer: segments of a video, one request after another on one connection, each at a bit rate that a rule chooses."""

    rule: Annotated[str, AfterValidator(_known), _Rules()] = Field(description="What chooses the bit rate of the next segment.")
    ladder: list[Rate] = Field(
        list(LADDER), min_length=1, description="Bit rates, ascending; 0.3 to 4.3 Mbit/s in six steps by default."
    )
    sizes: Annotated[Segments | None, _SIZES, _SIZES_SCHEMA] = None
    segment: PositiveDuration = Field(SEGMENT, description='Duration of a segment; "4 s" by default.')
    buffer: PositiveDuration = Field(BUFFER, description='Video that the player buffers; "60 s" by default.')
    start_after: Duration | None = Field(
        None, description="Video that is buffered before it plays, at the start and after a stall; one segment by default."
    )
    length: PositiveDuration | None = Field(
        None, description="Length of the video, rounded up to whole segments; endless by default."
    )
    reservoir: Duration | None = Field(
        None, description="Of bba0: the buffer up to which the lowest rate is chosen; 3/8 of it by default."
    )
    cushion: Duration | None = Field(
        None,
        description="Of bba0: the buffer above the reservoir over which the rate rises to the highest, at 9/10 of it by default.",
    )

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        whole, holds = sum(self._map()), f'the buffer holds "{DURATION.format(self.buffer)}"'
        map_keys = [key for key in ("reservoir", "cushion") if getattr(self, key) is not None and self.rule != "bba0"]
        return self.without(
            (self.sizes is not None and "ladder" in self.model_fields_set, "ladder: the file of sizes has the bit rates"),
            (any(low >= high for low, high in pairwise(self.ladder)), "ladder: bit rates must ascend"),
            (self.buffer < self.segment, f'buffer: must hold a segment, "{DURATION.format(self.segment)}"'),
            (self.start_after is not None and self.start_after > self.buffer, f"start_after: {holds}"),
            *((True, f"{key}: only bba0 has one") for key in map_keys),
            (whole > self.buffer, f'reservoir and cushion: together "{DURATION.format(whole)}", but {holds}'),
        )

    def _map(self) -> tuple[int, int]:
        """Reservoir and cushion of BBA-0."""
        reservoir = self.buffer * RESERVOIR_OF[0] // RESERVOIR_OF[1] if self.reservoir is None else self.reservoir
        full = self.buffer * FULL_OF[0] // FULL_OF[1]
        return reservoir, max(full - reservoir, 0) if self.cushion is None else self.cushion

    def as_json(self) -> dict[str, Any]:
        """The video as a run's specification has it."""
        reservoir, cushion = self._map()
        found = {
            "rule": {"bba0": {"reservoir": reservoir, "cushion": cushion}} if self.rule == "bba0" else self.rule,
            "ladder": self.ladder if self.sizes is None else self.sizes.ladder(self.segment),
            **({} if self.sizes is None else {"sizes": self.sizes.rows}),
            "segment": self.segment,
            "buffer": self.buffer,
            "start_after": self.segment if self.start_after is None else self.start_after,
            "length": self.length,
        }
        return {"video": found}
