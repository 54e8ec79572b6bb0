"""The values of an axis, and what each is called."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from sojourn.plugins.source import NAMING_FILES
from sojourn.sweeps.ranges import Range

#: What a table of ``label`` and ``value`` holds, for a value that says too little about itself.
LABELLED = {"label", "value"}

#: What an alternative holds: a name, and the keys that it sets.
ALTERNATIVE = {"label", "set"}

#: The keys that tell what a table is.
NAMING = ("name", "profile", *NAMING_FILES)


@dataclass(frozen=True)
class Value:
    """One value of an axis: its label, and the value to set, as plain data; of an alternative the keys with theirs."""

    label: str
    data: Any
    is_alternative: bool = False

    @property
    def name(self) -> str:
        """The label, or the name of a table that has one."""
        is_table = isinstance(self.data, Mapping) and not self.is_alternative
        names = [_called(key, self.data[key]) for key in NAMING if key in self.data] if is_table else []
        return names[0] if names else self.label


def of_axis(given: Sequence[Any] | Mapping[str, Any]) -> list[Value]:
    """The values of an axis as a file writes it, a list or a table, with their labels.

    A table is called by its name and those of its keys that are not the same in every value.
    """
    listed: Sequence[Any]
    if isinstance(given, Mapping) and are_alternatives(given):
        listed = as_listed(given)
    elif isinstance(given, Mapping) and "values" not in given:
        listed = list[Any](Range.of(given["range"], given.get("spacing", "linear")).spread(given["steps"]))
    else:
        listed = given["values"] if isinstance(given, Mapping) else given
    if any(map(_is_alternative, listed)):
        return _distinct([_alternative(value) for value in listed])
    plain = [value["value"] if _has_label(value) else value for value in listed]
    tables = [_table(value) for value in plain]
    shared = {key for key in tables[0] if all(key in table and table[key] == tables[0][key] for table in tables)}
    return _distinct(
        [
            Value(str(value["label"]) if _has_label(value) else text(data, shared), data)
            for value, data in zip(listed, plain, strict=True)
        ]
    )


def as_listed(alternatives: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Alternatives as a table has them, by their names, as a list of values."""
    return [{"label": label, "set": keys} for label, keys in alternatives.items()]


def are_alternatives(given: Mapping[str, Any]) -> bool:
    """Whether a table has alternatives by their names: it is one of tables."""
    return bool(given) and all(isinstance(held, Mapping) for held in given.values())


def _alternative(value: Any) -> Value:
    if not _is_alternative(value) or not isinstance(value["set"], Mapping):
        raise ValueError(
            f'{text(value)}: is no alternative as others of the axis are; write {{ label = "...", set = {{ ... }} }}'
        )
    return Value(str(value["label"]), value["set"], is_alternative=True)


def _distinct(values: list[Value]) -> list[Value]:
    for label, times in Counter(value.label for value in values).items():
        if times > 1:
            raise ValueError(f'{times} values have the label "{label}"; remove duplicates, or write {{ label, value }}')
    return values


def labels(given: Sequence[Any] | Mapping[str, Any]) -> list[str]:
    """What the values of an axis are called; the range itself of one that values are drawn from."""
    if isinstance(given, Mapping) and "range" in given and "steps" not in given:
        return [str(given["range"])]
    return [value.label for value in of_axis(given)]


def text(value: Any, left_out: Iterable[str] = ()) -> str:
    """A value on one line, as it would be written in a file, without the keys that are left out of tables."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        naming = next((key for key in NAMING if key in value), None)
        others = [f"{key}={text(held)}" for key, held in value.items() if key != naming and key not in set(left_out)]
        return " ".join([*([_called(naming, value[naming])] if naming else []), *others])
    if isinstance(value, list):
        return "[" + " ".join(text(held) for held in value) + "]"
    return str(value)


def _called(key: str, value: Any) -> str:
    """What a table is called: a file by its name, wherever it is."""
    return PurePath(str(value)).name if key in NAMING_FILES else str(value)


def _table(value: Any) -> Mapping[str, Any]:
    return {key: held for key, held in value.items() if key not in NAMING} if isinstance(value, Mapping) else {}


def _has_label(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == LABELLED


def _is_alternative(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == ALTERNATIVE
