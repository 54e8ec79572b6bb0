"""What a scenario may say of programs: names in braces, words of commands, and a line for each mistake."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import Capture, complaint, scenario_data
from sojourn import scenario
from sojourn.backends.linux import programs, runaways
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.linux import guest
from sojourn.scenario import content
from sojourn.scenario.programs import address
from sojourn.specification import RunSpecification, specify

TOML = """
name = "small"
duration = "4 s"
[network.dumbbell]
bottleneck = { rate = "10 Mbit/s", delay = "5 ms", queue = "codel" }
senders = [{ name = "a", rate = "100 Mbit/s", delay = "1 ms" }]
receivers = [{ name = "b", rate = "100 Mbit/s", delay = "1 ms" }]
"""

PROGRAM = '[[programs]]\nat = "a"\nrun = "true"\n'


def specified(run: str | list[str], folder: Path = Path(), **changes: Any) -> RunSpecification:
    """Returns the specification of a scenario with one program."""
    program = {"at": "a", "run": run} | changes.pop("program", {})
    return specify(scenario.from_data(scenario_data(flows=[], programs=[program], **changes), "here", folder), 1)


def command(run: str | list[str], **variables: str | float) -> list[str]:
    """Returns the words of a command as the guest gets them."""
    words: list[str] = specified(run, variables=variables)["programs"][0]["command"]
    return words


def test_words_are_split_as_a_shell_splits_them() -> None:
    """POSIX's rules of quotes (Shell Command Language, 2.2): nothing else of a shell is carried out."""
    assert command("""cp 'a b' "c d" e\\ f""") == ["cp", "a b", "c d", "e f"]
    assert command("echo $HOME *.toml > out | cat") == ["echo", "$HOME", "*.toml", ">", "out", "|", "cat"]
    assert command(["sh", "-c", "echo 'x'  y"]) == ["sh", "-c", "echo 'x'  y"]


def test_names_in_braces_are_filled_in() -> None:
    """A host is its address, which its place among all nodes says, and a variable its value; a word stays one word."""
    run = specified("ping {b} {wait} x{wait}y", variables={"wait": "1 s"})
    target = address(run["nodes"].index("b"))
    assert run["programs"][0]["command"] == ["ping", target, "1 s", "x1 sy"]
    assert command("echo {number}", number=1.5) == ["echo", "1.5"]


def test_other_braces_are_left_alone() -> None:
    """What a shell, JSON, printf or curl has in braces is no name; two braces are one."""
    for text in ("${HOME}", "{}", "{1}", "%{time_total}x{,}", "{a,c}", '{"a": 1}'):
        wanted = text.replace("%{time_total}", "%{{time_total}}")
        assert command(["echo", wanted])[1] == text
    assert command(["echo", "{{b}} {{"])[1] == "{b} {"


def test_values_of_an_environment_are_filled_in() -> None:
    """A program's environment may have addresses and variables, too."""
    run = specified("true", program={"environment": {"TARGET": "http://{b}:{port}/"}}, variables={"port": 80})
    assert run["programs"][0]["environment"] == {"TARGET": f"http://{address(run['nodes'].index('b'))}:80/"}


def test_a_program_is_called_as_its_file() -> None:
    """Without a name of its own it has that of its file, without folders."""
    assert [specified("/usr/bin/env true")["programs"][0]["name"], specified("true")["programs"][0]["name"]] == ["env", "true"]


def test_a_variable_changes_the_run_and_its_default_does_not() -> None:
    """Commands are part of a run's specification with their values, and a variable that none of them has is not."""
    base = specified("echo {x}", variables={"x": "1"})
    assert base != specified("echo {x}", variables={"x": "2"})
    assert base == specified("echo 1", variables={"unused": "3"})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (PROGRAM.replace('"a"', '"c"'), 'programs[0]: at: unknown host "c"'),
        (PROGRAM.replace('"true"', '"echo {bb}"'), 'programs[0]: run: unknown host or variable "bb"'),
        (PROGRAM.replace('"true"', '"echo \'x"'), "programs[0].run: No closing quotation in "),
        (PROGRAM.replace('"true"', '""'), "programs[0].run: "),
        (PROGRAM.replace('"true"', "[]"), "programs[0].run: "),
        (PROGRAM.replace('"true"', '["", "x"]'), "programs[0]: run: the command is empty"),
        (PROGRAM.replace('"true"', '["a\\u0000b"]'), "programs[0]: run: a word has a zero byte"),
        (PROGRAM + 'start = "4 s"\n', 'programs[0]: start: "4 s" is after the end of the scenario'),
        (PROGRAM + 'stop = "5 s"\n', 'programs[0]: stop: "5 s" is after the end of the scenario'),
        (PROGRAM + 'start = "2 s"\nstop = "1 s"\n', 'programs[0]: stop: "1 s" must be later than the start'),
        (PROGRAM + "expect = 256\n", 'programs[0].expect: 256: must be an exit status from 0 to 255, or "any"'),
        (PROGRAM + "expect = true\n", 'programs[0].expect: True: must be an exit status from 0 to 255, or "any"'),
        (PROGRAM + 'cpu = "fast"\n', "programs[0].cpu: 'fast': must be such as \"1 us per system call\""),
        (PROGRAM + 'cpu = "1 m per system call"\n', "programs[0].cpu: "),
        (PROGRAM + 'root = "nowhere"\n', 'programs[0].root: "nowhere" does not exist'),
        (PROGRAM + 'environment = { "A=B" = "1" }\n', 'programs[0]: environment: "A=B" has a "="'),
        (PROGRAM + 'environment = { A = "{bb}" }\n', 'programs[0]: environment: unknown host or variable "bb"'),
        (PROGRAM + 'keep = [""]\n', "programs[0].keep"),
        (PROGRAM + 'colour = "red"\n', 'programs[0]: unknown key "colour"'),
        (f"{PROGRAM}[variables]\na = 1\n", 'variables: "a" is a host'),
        ("[variables]\nx = 1\n", "flows: give at least one, or programs"),
        (PROGRAM, "programs: they run on a real kernel only: --backend linux"),
    ],
)
def test_mistakes_are_one_line(text: str, line: str, tmp_path: Path, capsys: Capture) -> None:
    """Each mistake ends the command with status 2 and one line that names the file, the key and what is wrong."""
    file = tmp_path / "small.toml"
    file.write_text(TOML + text, encoding="utf-8")
    assert status(["check", str(file)]) == 2
    assert complaint(capsys).startswith(f"sojourn: {file}: {line}")


def test_variables_need_programs() -> None:
    """Flows have no commands, so variables beside flows alone would do nothing."""
    with pytest.raises(InputError, match="variables: only commands of programs have variables"):
        scenario.from_data(scenario_data(variables={"x": 1}), "here")


def test_the_first_scenario_of_the_page_is_one() -> None:
    """What docs/programs.md begins with can be pasted: it is in order."""
    page = (Path(__file__).parent.parent / "docs" / "programs.md").read_text(encoding="utf-8")
    pasted = page.partition("```toml\n")[2].partition("```")[0]
    programs = specify(scenario.from_data(tomllib.loads(pasted), "page", Path()), 1)["programs"]
    assert programs[1]["command"][:5] == ["curl", "-s", "-o", "/dev/null", "-w"]
    assert programs[1]["command"][5] == "%{time_total} s"


def in_guest(file: str, name: str) -> int:
    """Returns a constant of the guest's program: a number, which may be shifted."""
    found = re.search(rf"^#define {name} \(?(\d+)(?:ll)?(?: << (\d+)\)?)?$", guest.source(file).decode(), re.MULTILINE)
    assert found, name
    return int(found[1]) << int(found[2] or 0)


def test_the_page_has_the_limits_that_hold() -> None:
    """Limits stand in the guest's C and in modules here, and docs/programs.md says them in its own units."""
    page = " ".join((Path(__file__).parent.parent / "docs" / "programs.md").read_text(encoding="utf-8").split())
    said = {
        "output and errors | {:g} MiB each": in_guest("programs.c", "MOST_WRITTEN") / 2**20,
        "files that are kept | {:g} MiB of": in_guest("programs.c", "MOST_KEPT") / 2**20,
        "processes and threads | {:,} in all": in_guest("limits.c", "MOST_PROCESSES"),
        "memory | {:g} GiB besides": programs.MEMORY / 2**10,
        "After {:g} s of processor time": runaways.LONGEST,
        "{:g} GiB<!-- end -->": content.MOST_BYTES / 2**30,
    }
    for text, number in said.items():
        assert text.format(number) in page
