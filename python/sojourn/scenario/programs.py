"""Programs that run on hosts of the network: any that runs on Linux."""

import re
import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainValidator, ValidationInfo, WithJsonSchema, model_validator

from sojourn import names
from sojourn.scenario import content
from sojourn.scenario.base import Name, Table
from sojourn.scenario.quantities import Duration, PositiveDuration
from sojourn.scenario.reading import folder_of
from sojourn.units import DURATION

#: A name in braces stands for a host's address or a variable, but not what a shell expands, nor what is in two pairs of braces.
_PLACEHOLDER = re.compile(r"(?<![${])\{([^\W\d][\w.-]*)\}(?!\})")

#: What a system call may be said to cost.
_COST = re.compile(r"(.*\S)\s+per\s+system\s+call")

#: How names of roots begin that stand for their content: archives, and folders.
IMAGE, FOLDER = "sha256:", "folder:"

Text = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")]


def _words(given: object) -> object:
    """A command's words: a text is split as a shell does, but nothing in it is expanded."""
    if not isinstance(given, str):
        return given
    try:
        return shlex.split(given)
    except ValueError as error:
        raise ValueError(f"{error} in {given!r}") from None


Words = Annotated[
    list[str],
    BeforeValidator(_words),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
    Field(min_length=1),
]


def _cost(given: object) -> int:
    found = _COST.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        raise ValueError(f'{given!r}: must be such as "1 us per system call"')
    return DURATION.parse(found[1])


def _status(given: object) -> int | str:
    if given != "any" and (isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= 255):
        raise ValueError(f'{given!r}: must be an exit status from 0 to 255, or "any"')
    return given


def _folder(given: object, info: ValidationInfo) -> str | None:
    if not isinstance(given, str) or not given:
        raise ValueError("must name a folder or an archive")
    path = (folder_of(info) / given).resolve()
    if not path.exists():
        raise ValueError(f'"{given}" does not exist')
    # The machine's own root is what programs have without one: all that is in it is not read.
    return None if path == Path("/") else str(path)


def address(node: int) -> str:
    """The address of a node, by its place among all."""
    number = node + 1
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def placeholders(text: str) -> list[str]:
    """The names in braces that a text of a command has."""
    return _PLACEHOLDER.findall(text)


def filled(text: str, value_of: Callable[[str], str]) -> str:
    """A text of a command with its placeholders filled in; two braces are one."""
    text = _PLACEHOLDER.sub(lambda found: value_of(found[1]), text)
    return text.replace("{{", "{").replace("}}", "}")


class Program(Table):
    """A program on a host of the network, which runs in the network's virtual time on a real kernel."""

    at: str = Field(description="Host on which it runs.")
    command: Words = Field(
        alias="run", description="Command; {host} is the address of a host, {name} the value of one of the scenario's variables."
    )
    name: Name | None = Field(None, description="Name in results; by default that of its file.")
    start: Duration = Field(0, description="Time at which it starts.")
    stop: PositiveDuration | None = Field(
        None, description="Time at which it is ended, by TERM and, a second later, KILL; by default the scenario's end."
    )
    expect: Annotated[
        int | Literal["any"],
        PlainValidator(_status),
        WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"const": "any"}]}),
    ] = Field(0, description='Exit status without which the run fails, or "any"; one that is ended by its stop has none.')
    cpu: Annotated[
        int | None,
        PlainValidator(_cost),
        WithJsonSchema({"type": "string", "examples": ["1 us per system call"]}),
    ] = Field(None, description="What its processor takes: by default no time.")
    root: Annotated[str | None, PlainValidator(_folder), WithJsonSchema({"type": "string"})] = Field(
        None, description="Folder, or tar archive of a container's image, that is its file system; by default this machine's."
    )
    environment: dict[Text, str] = Field({}, description="Variables of its environment besides PATH, HOME and LANG.")
    keep: list[Text] = Field([], description="Patterns of the files that are kept with the results, such as *.qlog.")

    @model_validator(mode="after")
    def _holds_together(self) -> "Program":
        if self.stop is not None and self.stop <= self.start:
            raise ValueError(f'stop: "{DURATION.format(self.stop)}" must be later than the start')
        if not self.command[0]:
            raise ValueError("run: the command is empty")
        if any("\0" in word for word in self.command):
            raise ValueError("run: a word has a zero byte")
        wrong = next((name for name in self.environment if "=" in name), None)
        return self.without((wrong is not None, f'environment: "{wrong}" has a "="'))

    @property
    def called(self) -> str:
        """Its name in results."""
        return self.name or Path(self.command[0]).name

    @property
    def image(self) -> str | None:
        """The name of its root by its content, if that is an archive."""
        if self.root is None or Path(self.root).is_dir():
            return None
        return f"{IMAGE}{content.of_file(Path(self.root))}"

    @property
    def folder(self) -> str | None:
        """The same if it is a folder.

        Raises:
            ValueError: the folder has more than is read.
        """
        if self.root is None or not Path(self.root).is_dir():
            return None
        return f"{FOLDER}{content.of_folder(Path(self.root))}"

    def check(self, hosts: Collection[str], variables: Mapping[str, str], duration: int) -> None:
        """Checks what depends on the rest of the scenario.

        Raises:
            ValueError: it does not fit; the text begins with the key.
        """
        if self.at not in hosts:
            raise ValueError(f"at: {names.unknown('host', self.at, sorted(hosts))}")
        for key, texts in (("run", self.command), ("environment", self.environment.values())):
            for name in (name for text in texts for name in placeholders(text)):
                if name not in hosts and name not in variables:
                    known = [*sorted(hosts), *variables]
                    raise ValueError(f"{key}: {names.unknown('host or variable', name, known)}; write {{{{{name}}}}} for braces")
        for key, time in (("start", self.start), ("stop", self.stop)):
            if time is not None and time >= duration:
                raise ValueError(f'{key}: "{DURATION.format(time)}" is after the end of the scenario')
