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

#: Programs run on a kernel only, so that the engine knows nothing of them.
COLUMNS["programs"] = [
    Column("program", "UInt32", "", "its place in the scenario, from 0"),
    Column("name", "String", "", "its `name`, or that of its file"),
    Column("host", "String", "", "host on which it ran"),
    Column("command", "String", "", "its words, with addresses and variables filled in"),
    Column("start", "Float64", "s", "when it was started"),
    Column("end", "Float64", "s", "when it ended; null if it had to be killed at the end of the run"),
    Column("status", "UInt32", "", "exit status; null if a signal ended it"),
    Column("signal", "String", "", "signal that ended it, such as `SIGTERM`"),
    Column("stopped", "Boolean", "", "whether it still ran at its `stop` or at the end"),
    Column("output", "String", "", "what it wrote to its standard output, the first MiB"),
    Column("errors", "String", "", "what it wrote to its standard error, the first MiB"),
    Column("bytes_output", "UInt64", "B", "what it wrote to its standard output, all of it"),
    Column("bytes_errors", "UInt64", "B", "what it wrote to its standard error, all of it"),
    Column("files_kept", "UInt32", "", "files that are kept, by `keep`"),
    Column("files_left_out", "UInt32", "", "files that are not, since all would be more than 64 MiB"),
]
