"""What holds for all tests."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import NoReturn

import pytest

from contextlab.celery import app

PROMISED = os.environ.get("CI") == "true"
NEVER_SKIPPED = {"service", "browser"}


def missing(what: str) -> NoReturn:
    """Skip a test that lacks something; where everything is promised to be there, fail."""
    if PROMISED:
        pytest.fail(f"{what} is missing, and CI=true promises it")
    pytest.skip(f"{what} is missing")


@pytest.fixture(autouse=True, scope="session")
def _tasks_run_at_once() -> None:
    """No broker in unit tests: a task runs where it is called, and its errors come out."""
    app.conf.update(task_always_eager=True, task_eager_propagates=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where services are promised, a test that needs one and was skipped anyway has failed."""
    report = yield
    marks = {mark.name for mark in item.iter_markers()}
    if PROMISED and report.skipped and not hasattr(report, "wasxfail") and marks & NEVER_SKIPPED:
        report.outcome = "failed"
        report.longrepr = f"skipped where CI=true promises everything: {report.longrepr}"
    return report
