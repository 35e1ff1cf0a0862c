"""A plugin of pytest: this process runs the tests that it is told to, over two pipes.

It says which tests there are, and what came of each, in lines of JSON; and gets lines with the
names of those to run next. `--worker IN,OUT` names the pipes' descriptors.
"""

import json
import os
from collections.abc import Iterator
from typing import Any, TextIO

import pytest

# How much of what a failed test has printed is told.
TOLD = 6000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--worker", help="descriptors of the pipes to the scheduler: IN,OUT")


def pytest_configure(config: pytest.Config) -> None:
    descriptors = [int(word) for word in config.getoption("--worker").split(",")]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)  # what tests start holds no end of them open
    orders, answers = os.fdopen(descriptors[0]), os.fdopen(descriptors[1], "w")
    config.pluginmanager.register(Worker(orders, answers))


class Worker:
    def __init__(self, orders: TextIO, answers: TextIO) -> None:
        self._orders = orders
        self._answers = answers
        self._reports: list[pytest.TestReport] = []
        self._of_files: list[dict[str, str]] = []  # skipped as a whole, or not to be collected

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._of_files.append({"name": report.nodeid, **told([report])})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        tests = [
            {
                "name": name,
                "path": str(item.path),
                "marks": [mark.name for mark in item.iter_markers()],
            }
            for name, item in items.items()
        ]
        self._say(tests=tests, files=self._of_files)
        for names in self._chunks():
            known = [items[name] for name in names if name in items]
            for item, following in zip(known, [*known[1:], None], strict=True):
                self._run(item, following)
            for name in set(names) - set(items):
                self._say(ended=name, outcome="failed", text="not collected in this process")
        return True

    def _chunks(self) -> Iterator[list[str]]:
        """What the scheduler sends, until it closes the pipe."""
        self._say(idle=True)
        while line := self._orders.readline():
            yield json.loads(line)
            self._say(idle=True)

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        self._say(begun=item.nodeid)
        self._reports = []
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        seconds = sum(report.duration for report in self._reports)
        self._say(ended=item.nodeid, seconds=seconds, **told(self._reports))

    def _say(self, **what: Any) -> None:
        self._answers.write(json.dumps(what) + "\n")
        self._answers.flush()


def told(reports: list[Any]) -> dict[str, str]:
    """The outcome of a test's setup, call and teardown together, and why."""
    failed = [report for report in reports if report.failed]
    skipped = [report for report in reports if report.skipped]
    if failed:
        parts = [report.longreprtext for report in failed]
        parts += [f"{name}\n{text}" for name, text in failed[-1].sections]
        return {"outcome": "failed", "text": "\n".join(parts)[-TOLD:]}
    if skipped:
        return {"outcome": "skipped", "text": reason(skipped[0])}
    return {"outcome": "passed" if reports else "failed", "text": "" if reports else "no report"}


def reason(report: Any) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return f"expected to fail: {getattr(report, 'wasxfail', report.longreprtext)}"
