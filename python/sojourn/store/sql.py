"""Values in SQL."""


def text(value: object) -> str:
    """A value as text."""
    return "'" + str(value).replace("'", "''") + "'"
