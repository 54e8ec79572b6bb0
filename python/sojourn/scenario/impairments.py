"""What happens to packets on a link besides queueing, transmission and delay."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from sojourn.scenario.base import Table
from sojourn.scenario.quantities import Duration, PositiveDuration, Rate, Size

Share = Annotated[float, Field(ge=0, le=1)]


class Policer(Table):
    """A token bucket before the queue, which drops what does not conform."""

    rate: Rate = Field(description="Rate at which the bucket fills.")
    burst: Size = Field(description="What the bucket holds, and has at the start.")


class BurstLoss(Table):
    """Losses in bursts by the model of Gilbert and Elliott: a good and a bad state, and perhaps a step with each packet."""

    enter: float = Field(gt=0, le=1, description="Probability of a step from the good state to the bad one.")
    leave: float = Field(gt=0, le=1, description="Probability of a step from the bad state to the good one.")
    inside: Share = Field(1.0, description="Loss probability in the bad state.")
    outside: Share = Field(0.0, description="Loss probability in the good state.")


class Jitter(Table):
    """A random part of the delay."""

    mean: PositiveDuration = Field(description="Its mean.")
    distribution: Literal["uniform", "exponential"] = Field(
        "uniform", description="Uniform from 0 to twice the mean, or exponential."
    )
    reorders: bool = Field(False, description="A packet may overtake those before it; otherwise it waits for them.")


class Impairments(Table):
    """All impairments of one direction of a link; they apply in this order."""

    policer: Policer | None = None
    burst_loss: BurstLoss | None = None
    bit_error_ratio: Share = Field(0.0, description="Probability that a bit is wrong; a packet with such a bit is lost.")
    duplication: Share = Field(0.0, description="Probability that a packet arrives twice.")
    jitter: Jitter | None = None
    slot: Duration = Field(0, description="The link delivers at multiples of this time only; 0: at any time.")


def drawn_impairments(impairments: Mapping[str, object]) -> list[str]:
    """Those of a specification's impairments that are random, by their keys."""
    return [name for name in ("burst_loss", "bit_error_ratio", "duplication", "jitter") if impairments[name]]
