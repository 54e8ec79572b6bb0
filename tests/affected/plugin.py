"""The option ``--affected`` of pytest, also with pytest-xdist."""

import os
from collections import Counter
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from affected.record import Layout, Record, State
from affected.tracing import Tracer, Used, forget

#: What talks to processes that an earlier test file may have started.
TALKS = "python/sojourn/plugins/processes.py::"

#: What a process keeps for all test files although they need it, because it takes a second: a bundle of other people's scripts.
KEPT = {"python/sojourn/report/page.py::_vega": ("sojourn.report.page", "_vega")}

#: Options with which only some tests of a file are run, or none.
PARTIAL = ("keyword", "deselect", "lf", "stepwise", "collectonly", "setuponly", "setupplan")

Wrapper = Generator[None, Any, Any]


def layout(root: Path) -> Layout:
    """Where this project has its parts."""
    return Layout(root, traced=("python/sojourn", "docs/hooks", "tests"), tests="tests", built=("python/sojourn/_engine*.so",))


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "Run only the test files that a change since they passed can affect; all of them if CI is set."
    parser.addoption("--affected", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("affected") or "CI" in os.environ:
        return
    assert config.cache is not None
    folder = config.cache.mkdir("affected")
    register = config.pluginmanager.register
    sent: Mapping[str, Any] | None = getattr(config, "workerinput", None)
    if sent is not None:
        register(LeftOut(sent["affected"]))
        register(Tracing(config, folder))
        return
    selection = Selection(config, folder)
    register(selection)
    register(LeftOut(selection.left_out))
    if getattr(config.option, "dist", "no") == "no":
        register(Tracing(config, folder, selection))


def _file(node: pytest.Item | pytest.Collector) -> str:
    return node.nodeid.partition("::")[0]


class LeftOut:
    """Leaves test files out."""

    def __init__(self, files: list[str]) -> None:
        self._files = set(files)

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        return collection_path.relative_to(config.rootpath).as_posix() in self._files or None


class Selection:
    """Decides what is left out, and records what passed."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self._record = Record(folder / "record.json")
        self._state = State(layout(config.rootpath), str(config.getoption("markexpr")), self._record.sources)
        self.left_out = self._record.unaffected(self._state)
        self._finished: Counter[str] = Counter()
        self._not_passed: set[str] = set()
        self._used: dict[str, Used] = {}
        self._at_import: set[str] = set()
        self._count: Mapping[str, int] = {}
        some = any(getattr(config.option, name, None) for name in PARTIAL)
        self._is_whole = not some and not any("::" in argument for argument in config.args)

    def add(self, used: Mapping[str, tuple[list[str], list[str], bool]], at_import: list[str], count: Mapping[str, int]) -> None:
        """Takes what a process's tests used, functions called by imports, and how many tests each file has."""
        for file, (functions, texts, processes) in used.items():
            self._used.setdefault(file, Used()).add(Used(set(functions), set(texts), processes))
        self._at_import |= set(at_import)
        self._count = count

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["affected"] = self.left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        sent = getattr(node, "workeroutput", {}).get("affected")
        if error or sent is None:
            self._is_whole = False
        else:
            self.add(*sent)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._is_whole = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        if not report.passed:
            self._not_passed.add(file)
        if report.when == "teardown":
            self._finished[file] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.left_out:
            session.exitstatus = pytest.ExitCode.OK
        if self._is_whole and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            passed = {}
            for file, used in self._used.items():
                if file not in self._not_passed and self._finished[file] == self._count.get(file, 0):
                    processes = used.processes or any(name.startswith(TALKS) for name in used.functions)
                    passed[file] = Used(used.functions | self._at_import, used.texts, processes)
            self._record.update(self._state, self._used, passed)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.left_out:
            line = f"{len(self.left_out)} of {len(self._state.tests())} test files left out, which no change affects"
            terminalreporter.write_line(f"{line}; with CI=1 all are run")


class Tracing:
    """Finds out, in a process that runs tests, what each test file uses."""

    def __init__(self, config: pytest.Config, folder: Path, selection: Selection | None = None) -> None:
        self._config = config
        self._selection = selection
        self._tracer = Tracer(config.rootpath, layout(config.rootpath).traced, folder / "bytecode")
        self._tracer.install()
        self._file = ""
        self._used: dict[str, Used] = {}
        self._count: dict[str, int] = {}

    def _enter(self, file: str) -> None:
        """From now on, what is used is attributed to this test file."""
        self._used.setdefault(self._file, Used()).add(self._tracer.take())
        if file != self._file:
            forget("sojourn", KEPT.values())
            self._file = file

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Wrapper:
        if isinstance(collector, (pytest.Module, pytest.Class)):
            self._enter(_file(collector))
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Wrapper:
        self._enter(_file(item))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Wrapper:
        if fixturedef.scope not in ("session", "package"):
            return (yield)
        self._enter(self._file)
        try:
            return (yield)
        finally:  # it is made once for all test files
            self._tracer.at_import |= self._tracer.reached

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._count = dict(Counter(map(_file, session.items)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._enter("")
        del self._used[""]
        used = {file: (sorted(each.functions), sorted(each.texts), each.processes) for file, each in self._used.items()}
        found = (used, sorted({*self._tracer.at_import, *KEPT}), self._count)
        if self._selection is not None:
            self._selection.add(*found)
        else:
            self._config.workeroutput["affected"] = found  # type: ignore[attr-defined]
