"""The ``sojourn`` command. Exit status: 0 done, 1 a run failed, 2 bad input, 130 and 143 ended by a signal."""

import importlib
import os
import re
import resource
import shlex
import sys
from collections.abc import Collection, Mapping

import click

from sojourn import trust
from sojourn.cli import interrupts
from sojourn.cli.group import Group
from sojourn.errors import InputError, SojournError

FAILED, BAD_INPUT = 1, 2

#: What the system and libraries say of a full disk.
NO_SPACE = re.compile(r"No space left on device( \(os error \d+\))?")

#: What the system's loader says when memory ends while a library is loaded.
NO_MEMORY_TO_LOAD = re.compile(r"failed to map segment|cannot allocate memory", re.IGNORECASE)

OUT_OF_MEMORY = "out of memory; results so far are kept; repeat the command to resume"

#: Bytes of address space that `run`, `report` and `query` need with up to 32 cores. With less, polars fails in ways
#: of its own, and some of these never end.
LEAST_ADDRESS_SPACE = 2_000_000 * 1024

#: Open files that commands need: the libraries' own, and the old and new files of all frames while results are merged.
LEAST_FILES = 64

#: What a shell sets to ask for completions.
COMPLETION = "_SOJOURN_COMPLETE"

#: The commands as help lists them, in sections. The module of the same name has each, as ``command``.
SECTIONS = {
    "Run": ("demo", "run", "plan", "check", "new", "reproduce", "linux"),
    "Look": ("watch", "lab", "shell", "report", "plot", "query", "export", "list", "describe"),
    "Judge": ("evaluate", "verdicts", "search", "range", "atlas", "compare", "claims"),
    "For developers": ("schema", "oracle", "packetdrill", "bench"),
}

COMMANDS = [name for section in SECTIONS.values() for name in section]


class Commands(Group):
    """A group whose commands are loaded when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002, as click calls it
        return COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002, as click calls it
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"sojourn.cli.{cmd_name}").command
        return command

    def sections(self, ctx: click.Context) -> Mapping[str, Collection[str]]:  # noqa: ARG002, as in Group
        return SECTIONS


def _print_version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from sojourn import _engine

    click.echo(f"sojourn {_engine.version()}")
    context.exit()


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version and exit."
)
def sojourn() -> None:
    """Simulate TCP congestion control and queue disciplines (AQMs), and reproduce papers about them."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE:
        raise SojournError(
            f"address space is limited to {limit // 1024} KiB (ulimit -v); at least {LEAST_ADDRESS_SPACE // 1024} KiB are needed"
        )
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != resource.RLIM_INFINITY and limit < LEAST_FILES:
        raise SojournError(f"open files are limited to {limit} (ulimit -n); at least {LEAST_FILES} are needed")


def status(arguments: list[str]) -> int:
    """Runs the command line with some arguments and returns its exit status."""
    try:
        if COMPLETION in os.environ:
            sojourn.main(prog_name="sojourn", complete_var=COMPLETION)
        # Not by main, which prints an empty line when it is interrupted.
        command = shlex.join(["sojourn", *arguments])
        with sojourn.make_context("sojourn", list(arguments), obj=command) as context, trust.asked_for():
            sojourn.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except Exception as error:
        return interrupts.complain() if interrupts.came() else _status_of(error)
    except KeyboardInterrupt:
        return interrupts.complain()
    return 0


def _status_of(error: Exception) -> int:
    """Prints the error on one line and returns the exit status; unexpected errors are raised again."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            click.echo(error.format_message())
            return BAD_INPUT
        case click.ClickException():
            return _complain(error.format_message(), BAD_INPUT)
        case InputError():
            return _complain(str(error), BAD_INPUT, error.output)
        case SojournError():
            return _complain(str(error), FAILED)
        case click.Abort():
            return interrupts.complain()
        case BrokenPipeError():
            # The reader of our output has gone, as with "| head"; keep Python from failing once more at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        case MemoryError():
            return _complain(OUT_OF_MEMORY, FAILED)
        case ImportError() if NO_MEMORY_TO_LOAD.search(str(error)):
            return _complain(OUT_OF_MEMORY, FAILED)
        case OSError():
            return _complain(f"{error.filename or 'output'}: {error.strerror or error}", FAILED)
        case _:
            raise error


def _complain(message: str, exit_status: int, output: str = "") -> int:
    """Prints the message on one line, and below it what another program said, as it is."""
    plain = NO_SPACE.sub("the disk is full; free some space and repeat the command", message)
    click.echo(f"sojourn: {' '.join(plain.split())}", err=True)
    if output:
        click.echo(output.rstrip("\n"), err=True)
    return exit_status
