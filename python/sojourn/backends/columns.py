"""The columns of the frames of a run: the engine's table (crates/engine/src/columns). Nothing heavy is imported."""

from typing import NamedTuple

from sojourn import _engine


class Column(NamedTuple):
    """A column of a frame."""

    name: str
    #: What polars calls its type.
    type: str
    #: Empty if it has none.
    unit: str
    #: In Markdown, for docs/measures.md; columns beside each other that share it stand in one row there.
    meaning: str


#: Of each frame, by its name.
COLUMNS = {frame: [Column(*column) for column in columns] for frame, columns in _engine.columns().items()}
