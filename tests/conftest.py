"""What holds for all tests."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

from contextlab.celery import app


def missing(what: str) -> NoReturn:
    """Skip a test that lacks something; where everything is promised to be there, fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing, and CI=true promises it")
    pytest.skip(f"{what} is missing")


@pytest.fixture(autouse=True, scope="session")
def _tasks_run_at_once() -> None:
    """No broker in unit tests: a task runs where it is called, and its errors come out."""
    app.conf.update(task_always_eager=True, task_eager_propagates=True)
