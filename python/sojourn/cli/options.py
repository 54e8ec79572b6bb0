"""Options that several commands have, the sections that help lists them in, and what their text means."""

import tomllib
from collections.abc import Callable, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from sojourn import backends, trust
from sojourn.errors import InputError
from sojourn.names import GROUP

#: The sections of help, in this order; options that name none come last.
CELLS, RESULTS, EXECUTION, OTHER = "Cells and seeds", "Results", "Execution", "Options"


class Option(click.Option):
    """An option that help lists in a section."""

    def __init__(self, *arguments: Any, section: str = OTHER, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.section = section


class Command(click.Command):
    """A command whose help lists its options by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {section: [] for section in (CELLS, RESULTS, EXECUTION, OTHER)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections[parameter.section if isinstance(parameter, Option) else OTHER].append(record)
        for section, records in sections.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)


FunctionT = TypeVar("FunctionT", bound=Callable[..., None])


def option(*declarations: str, section: str = OTHER, **settings: Any) -> Callable[[FunctionT], FunctionT]:
    """An option in a section of help."""
    return click.option(*declarations, cls=Option, section=section, **settings)


class BackendName(click.ParamType[str]):
    """The name of a backend; whether there is such a one is found when it is looked up."""

    name = "backend"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return [CompletionItem(name) for name in backends.BACKENDS if name.startswith(incomplete)]


def _changes(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """Keys and what to set them to: a value of TOML, or a string without its quotes."""
    changes: dict[str, Any] = {}
    for change in given:
        key, equals, value = change.partition("=")
        if not equals:
            raise InputError(f"--set {change}: write KEY=VALUE, such as \"stack.minimum_rto='200 ms'\"")
        try:
            changes[key.strip()] = _value(value.strip())
        except ValueError as error:
            raise InputError(f"--set {key.strip()}: {error}") from None
        _trust_named({key.strip(): changes[key.strip()]})
    return changes


def _varied(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """Axes and what a scenario file would say of each: a list or a table of TOML, or values between commas."""
    axes: dict[str, Any] = {}
    for axis in given:
        from sojourn.scenario import parsed  # here, because help and completion should not wait for it

        name, equals, said = (part.strip() for part in axis.partition("="))
        if not (equals and name and said):
            raise InputError(f'--vary {axis}: write AXIS=VALUE,VALUE or KEY=VALUE,VALUE, such as "flows.*.tcp=cubic,bbr"')
        if name in axes:
            raise InputError(f"--vary {name}: is given twice; write all its values in one")
        try:
            axes[name] = parsed(f"it = {said}")["it"] if said[0] in "[{" else [_value(each.strip()) for each in said.split(",")]
        except ValueError as error:
            raise InputError(f"--vary {name}: {error}") from None
        _trust_named({name: axes[name]})
    return axes


def _value(text: str) -> Any:
    """A value of TOML, or a string without its quotes."""
    from sojourn.scenario import parsed

    try:
        return parsed(f"it = {text}")["it"]
    except tomllib.TOMLDecodeError:
        return text


def _trust_named(changes: Mapping[str, Any]) -> None:
    """Trusts the files of plugins that changes name: whoever wrote the command wrote their names."""
    for key, value in changes.items():
        for each in value if isinstance(value, list) else ():
            _trust_named({key: each})
        if isinstance(value, Mapping):
            _trust_named(value)
        elif key.rpartition(".")[2] in ("file", "linux") and isinstance(value, str):
            trust.name(value)


_of_cells, _of_execution, _of_results = (partial(option, section=section) for section in (CELLS, EXECUTION, RESULTS))
_only = partial(_of_cells, "--only", metavar="AXIS=VALUE", multiple=True)
only_option = _only(help="Take only the cells with this value of an axis; repeat for more values and axes.")
chosen_option = _only(
    help="Use only the cells with this value of an axis, or the flows of a group (group=NAME); repeat for more."
)
changes_option = partial(_of_cells, "--set", "changes", metavar="KEY=VALUE", multiple=True, callback=_changes)
set_option = changes_option(help="Set a key of the scenario, such as stack.minimum_rto='200 ms'; repeatable.")
vary_option = _of_cells(
    "--vary",
    "varied",
    metavar="KEY=VALUE,...",
    multiple=True,
    callback=_varied,
    help="Run all these values of a key, or of an axis of FILE, such as flows.*.tcp=cubic,bbr; repeatable.",
)
reading_option = _of_cells(
    "--reading",
    metavar="NAME",
    help="Settle what the paper leaves open by this reading, one of 'sojourn describe STUDY'. [default: as-stated]",
)
trust_option = _of_execution(
    "--trust",
    is_flag=True,
    expose_value=False,
    callback=lambda _context, _option, given: trust.give() if given else None,
    help="Run code that the scenario names in files outside its folder, too.",
)
seeds_option = _of_cells(
    "--seeds",
    metavar="N",
    type=click.IntRange(min=1),
    show_default="as the file says, or 1",
    help="Run each cell with N seeds.",
)
any_seed_option = partial(_of_cells, "--seed", metavar="N", type=click.IntRange(0, 2**63 - 1))
seed_option = any_seed_option(show_default="the file's", help="Run with this seed.")
_backend = partial(_of_execution, "--backend", metavar="NAME", type=BackendName())
_help_of_backend = f"Use this backend ({', '.join(backends.BACKENDS)}) for the runs"
backend_option = _backend(default=backends.DEFAULT, help=f"{_help_of_backend}.")
backends_option = _backend(
    multiple=True,
    default=[backends.DEFAULT],
    show_default=backends.DEFAULT,
    help=f"{_help_of_backend}; repeat to compare several.",
)
jobs_option = _of_execution(
    "--jobs",
    metavar="J",
    type=click.IntRange(min=1),
    show_default="one per core",
    help="Carry out J runs at a time.",
)
cluster_option = _of_execution(
    "--cluster",
    metavar="ADDRESS",
    help="Carry out the runs on the Dask cluster whose scheduler is at ADDRESS, such as tcp://host:8786.",
)
progress_option = _of_execution(
    "--progress",
    type=click.Choice(["bar", "json"]),
    default="bar",
    help="Show progress on standard error: as a bar (on a terminal only), or as one JSON object per line.",
)


def scenario_options(command: FunctionT) -> FunctionT:
    """``--only``, ``--set`` and ``--trust``, for commands that take a scenario."""
    return only_option(set_option(trust_option(command)))


def execution_options(command: FunctionT) -> FunctionT:
    """``--backend`` of several, ``--jobs``, ``--cluster`` and ``--progress``, for commands that carry out campaigns."""
    return backends_option(jobs_option(cluster_option(progress_option(command))))


def form_options(command: Callable[..., None]) -> Callable[..., None]:
    """``--json`` and ``--csv``, for commands that print tables: their parameter ``form``."""

    @wraps(command)
    def with_form(*arguments: Any, json: bool, csv: bool, **options: Any) -> None:
        if json and csv:
            raise InputError("--json, --csv: give one of them")
        command(*arguments, form="json" if json else "csv" if csv else None, **options)

    for form in ("CSV", "JSON"):
        help_text = f"Print {form} instead of tables, with all digits."
        with_form = _of_results(f"--{form.lower()}", is_flag=True, help=help_text)(with_form)
    return with_form


def out_option(default: str | None, help_text: str, metavar: str = "DIR") -> Callable[[FunctionT], FunctionT]:
    """``--out``: where a command writes to."""
    shown = default if default is not None else False
    return _of_results("--out", metavar=metavar, type=click.Path(path_type=Path), show_default=shown, help=help_text)


def selection(only: tuple[str, ...]) -> dict[str, list[str]]:
    """Axes and the values of each that are wanted."""
    wanted: dict[str, list[str]] = {}
    for condition in only:
        axis, equals, value = condition.partition("=")
        if not equals:
            raise InputError(f'--only {condition}: write AXIS=VALUE, such as "load=UC"')
        wanted.setdefault(axis.strip(), []).append(value.strip())
    return wanted


def cells_of(only: tuple[str, ...]) -> dict[str, list[str]]:
    """Axes and the values of each that are wanted, where a group of flows cannot be chosen."""
    wanted = selection(only)
    if GROUP in wanted:
        asked = f"--only {GROUP}={wanted[GROUP][0]}"
        raise InputError(f"{asked}: chooses what is shown, not what is run; give it to run, compare or plot")
    return wanted


def groups_of(only: tuple[str, ...]) -> list[str] | None:
    """The groups of flows that are wanted, where nothing else can be chosen; all of them if it is none."""
    wanted = selection(only)
    for axis in wanted:
        if axis != GROUP:
            raise InputError(f'--only {axis}=...: A and B choose the cells; write {GROUP}=NAME, such as "{GROUP}=downloads"')
    return wanted.get(GROUP)
