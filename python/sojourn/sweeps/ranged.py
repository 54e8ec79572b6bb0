"""What a scenario file says of a map of its space: its axes, the verdicts whose borders it shows, and the budget."""

from pydantic import Field

from sojourn.scenario.base import Table


class Ranged(Table):
    """A map of a space: where in it verdicts begin to hold."""

    axes: list[str] | None = Field(
        None,
        min_length=2,
        max_length=2,
        description="Names of the space, from left to right and from bottom to top; the first two with a range unless given.",
    )
    verdicts: list[str] | None = Field(None, min_length=1, description="Verdicts that are asked; all unless given.")
    budget: str | None = Field(None, description='How much to run: "400 runs", or a time such as "2 min".')
    seed: int | None = Field(None, ge=0, description="Seed of the places that are tried first; 0 by default.")
