"""Messages at equal times: reports, or a source of a limited rate."""

from typing import Any, Self

from pydantic import Field, model_validator

from sojourn.scenario.base import Table
from sojourn.scenario.quantities import PositiveDuration, Rate
from sojourn.scenario.sizes import RandomSize, Sizes, as_json
from sojourn.units import PICOSECONDS


class Periodic(Table):
    """Messages that are written at equal times, whether the connection has carried the ones before or not."""

    size: RandomSize = Field(description="Bytes of a message.")
    every: PositiveDuration | None = Field(None, description="Time between messages.")
    rate: Rate | None = Field(None, description="Payload written a second, instead of the time between messages.")

    @model_validator(mode="after")
    def _has_a_pace(self) -> Self:
        if (self.every is None) == (self.rate is None):
            raise ValueError('give either "every" or "rate"')
        if self.rate is not None and isinstance(self.size, Sizes):
            raise ValueError('rate: messages of random sizes have a time between them; give "every"')
        return self

    def as_json(self) -> dict[str, Any]:
        """The messages as a run's specification has them."""
        every = self.every
        if self.rate is not None and isinstance(self.size, int):
            every = max(8 * self.size * PICOSECONDS // self.rate, 1)
        return {"periodic": {"size": as_json(self.size), "every": every}}
