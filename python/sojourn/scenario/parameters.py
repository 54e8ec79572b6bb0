"""Parameters as the catalogue knows them: reading what a user sets, and describing them to editors.

Nothing here knows an algorithm by name.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from sojourn import names
from sojourn.catalogue import DIMENSIONS, Parameter, Value
from sojourn.errors import within
from sojourn.scenario.quantities import QUEUE_LENGTH_SCHEMA
from sojourn.units import parse_queue_length

Json = dict[str, Any]


def read(given: Mapping[str, object], known: Iterable[Parameter], owner: str, *others: str) -> dict[str, Value]:
    """Checks the parameters a user set and turns their quantities into base units; ``others`` are keys besides them."""
    parameters = {parameter.name: parameter for parameter in known}
    values: dict[str, Value] = {}
    for name, value in given.items():
        if name not in parameters:
            raise ValueError(names.unknown(f"key of {owner}", name, [*others, *parameters]))
        with within(name):
            values[name] = _read(value, parameters[name])
    return values


def _read(value: object, parameter: Parameter) -> Value:
    dimension = DIMENSIONS.get(parameter.kind)
    if dimension is not None:
        return _within(dimension.parse(value), parameter)
    if parameter.kind == "queue_length":
        length = parse_queue_length(value)
        return {length.unit: length.amount}
    if parameter.kind == "boolean" and isinstance(value, bool):
        return value
    if parameter.kind == "choice":
        choices = parameter.choices or ()
        if isinstance(value, str) and value in choices:
            return value
        raise ValueError(names.unknown("choice", str(value), choices))
    if parameter.kind == "text" and isinstance(value, str):
        return value
    if parameter.kind == "integer" and isinstance(value, int) and not isinstance(value, bool):
        return _within(value, parameter)
    if parameter.kind == "number" and isinstance(value, int | float) and not isinstance(value, bool):
        return _within(float(value), parameter)
    article = "an" if parameter.kind == "integer" else "a"
    raise ValueError(f"{value!r} is not {article} {parameter.kind}")


def _within(value: int | float, parameter: Parameter) -> int | float:
    low, high = parameter.minimum, parameter.maximum
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a finite number")
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = [f"at least {parameter.bound(low)}"] if low is not None else []
        bounds += [f"at most {parameter.bound(high)}"] if high is not None else []
        raise ValueError(f"{parameter.format(value)} is out of range ({', '.join(bounds)})")
    return value


def schema(parameter: Parameter) -> Json:
    """The JSON Schema of one parameter, as a scenario file writes it."""
    described: Json = {}
    if parameter.kind in DIMENSIONS:
        described |= {"type": "string", "examples": [DIMENSIONS[parameter.kind].example]}
    elif parameter.kind == "choice":
        described |= {"enum": list(parameter.choices or ())}
    elif parameter.kind == "queue_length":
        described |= QUEUE_LENGTH_SCHEMA
    elif parameter.kind == "text":
        described |= {"type": "string"}
    else:
        described |= {"type": parameter.kind}
        if parameter.minimum is not None:
            described["minimum"] = parameter.minimum
        if parameter.maximum is not None:
            described["maximum"] = parameter.maximum
    if parameter.default is not None:
        described["default"] = parameter.format(parameter.default) if parameter.has_unit else parameter.default
    source = f" ({parameter.source})" if parameter.source else ""
    return described | {"description": f"{parameter.doc}{source}"}


def schemas(parameters: Iterable[Parameter]) -> dict[str, Json]:
    """The JSON Schema of each parameter, by name."""
    return {parameter.name: schema(parameter) for parameter in parameters}
