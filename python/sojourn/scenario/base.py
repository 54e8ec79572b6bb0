"""What all tables of a scenario file have in common: an unknown key is an error that names the nearest known one."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from sojourn import names


class Table(BaseModel):
    """A table of a scenario file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, given: object) -> object:
        if isinstance(given, Mapping):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for key in given:
                if key not in known:
                    raise ValueError(names.unknown("key", str(key), known))
        return given

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The table read from plain data, as a TOML file holds it."""
        return cls.model_validate(given)
