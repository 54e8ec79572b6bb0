"""Codepoints of differentiated services by their names, as flows ask for them."""

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

#: The field has six bits (RFC 2474, section 3).
MOST = 63

#: RFC 2474 (DF, CS0 to CS7), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VA) and RFC 8622 (LE); RFC 4594 says what for.
NAMES = {
    "DF": 0,
    "LE": 1,
    **{f"CS{precedence}": 8 * precedence for precedence in range(8)},
    **{f"AF{kind}{precedence}": 8 * kind + 2 * precedence for kind in range(1, 5) for precedence in range(1, 4)},
    "VA": 44,
    "EF": 46,
}


def _read(given: object) -> int:
    if isinstance(given, str) and given.upper() in NAMES:
        return NAMES[given.upper()]
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= MOST:
        return given
    raise ValueError(f"{given!r} is not a codepoint; known: {', '.join(NAMES)}, and numbers from 0 to {MOST}")


Codepoint = Annotated[
    int,
    BeforeValidator(_read),
    WithJsonSchema({"anyOf": [{"enum": list(NAMES)}, {"type": "integer", "minimum": 0, "maximum": MOST}]}),
]
"""A codepoint by its name or number."""
