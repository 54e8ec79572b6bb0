"""What all tables of a scenario file have in common: an unknown key is an error that names the nearest known one."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from sojourn import names
from sojourn.scenario.reading import Reading, Shared, shared


def _shown(name: str) -> str:
    if (fault := names.fault(name)) is not None:
        raise ValueError(f"the name {fault}")
    return name


Name = Annotated[str, AfterValidator(_shown)]
"""What tables, files and pages call something."""


#: The most entries of a list of tables, hosts and links of a network, and pairs of hosts between which flows run.
MOST_ENTRIES = 100_000

#: The most characters of entries that stand for several links or pairs of hosts: a specification has each of these written out.
MOST_TEXT = 1 << 28


def _few(given: object) -> object:
    """Refuses a list that is too long before anything in it is read."""
    if isinstance(given, list) and len(given) > MOST_ENTRIES:
        raise ValueError(f"{len(given):,} entries; at most {MOST_ENTRIES:,}")
    return given


Few = BeforeValidator(_few)
"""A list of tables that is not too long."""

OneOrSeveral = Annotated[
    list[str],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
    Field(min_length=1),
]
"""A text or several."""


def check_repeated(entries: Iterable[tuple[object, int]]) -> None:
    """Checks what is repeated in a run's specification: entries of a file, and how often each is written there."""
    if (text := sum(len(repr(entry)) * times for entry, times in entries if times > 1)) > MOST_TEXT:
        raise ValueError(f"with all hosts about {text:,} characters of text; at most {MOST_TEXT:,}")


class Table(BaseModel):
    """A table of a scenario file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, given: object) -> object:
        if isinstance(given, Mapping):
            known = cls.all_keys()
            for key in given:
                if key not in known:
                    raise ValueError(cls.unknown(str(key)))
        return given

    def without(self, *faults: tuple[object, str]) -> Self:
        """The table, unless one of these is true of it: the text beside the first that is says what is wrong."""
        for fault in (text for is_there, text in faults if is_there):
            raise ValueError(fault)
        return self

    @classmethod
    @cache
    def all_keys(cls) -> list[str]:
        """Its keys, as files write them."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def unknown(cls, key: str) -> str:
        """What is said of a key that it does not have."""
        return names.unknown("key", key, cls.all_keys())

    @classmethod
    def of(cls, given: Mapping[str, Any], folder: Path | None = None, shared: Shared | None = None) -> Self:
        """The table read from plain data, as a TOML file holds it; paths in it are relative to ``folder``, or to where we are."""
        return cls.model_validate(given, context=Reading(folder or Path(), given, shared))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(given: object, validate: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
            return shared(cls, given, info, validate)

        table: Any = handler(source)
        if cls.__pydantic_complete__:  # it is this already
            return table  # type: ignore[no-any-return]
        reference = table.pop("ref", None)  # by which others and the JSON Schema name the table
        return core_schema.with_info_wrap_validator_function(read, table, ref=reference)
