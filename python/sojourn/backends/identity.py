"""What computes a result, so that results say so and results of other code are not taken for them."""

from dataclasses import dataclass

#: Digits of a digest that messages show.
SHORT = 8


@dataclass(frozen=True)
class Identity:
    """A backend and the code that it is made of. Two with the same identity compute the same result of the same run."""

    name: str
    version: str
    #: Of what computes, in hexadecimal digits.
    digest: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.digest[:SHORT]})"
