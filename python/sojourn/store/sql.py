"""Names and values as DuckDB's SQL writes them. Whatever puts one into a query writes it so: names of axes are users' own."""


def identifier(name: str) -> str:
    """The name of a column or a table."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    """A text."""
    return "'" + str(value).replace("'", "''") + "'"
