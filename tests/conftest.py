"""What holds for all tests."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NoReturn

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.test.utils import override_settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django.fixtures import Settings

from contextlab.celery import app
from sessions_app import jobs
from sessions_app.imports import Source, import_file
from sessions_app.models import Membership, Session, Team

# How long an example takes depends on who else uses the machine.
hypothesis_settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("any machine")

PROMISED = os.environ.get("CI") == "true"
NEVER_SKIPPED = {"service", "browser"}


def missing(what: str) -> NoReturn:
    """Skip a test that lacks something; where everything is promised to be there, fail."""
    if PROMISED:
        pytest.fail(f"{what} is missing, and CI=true promises it")
    pytest.skip(f"{what} is missing")


@pytest.fixture(autouse=True, scope="session")
def _tasks_run_at_once() -> None:
    """No broker in unit tests: a task runs where it is called, and its errors come out.

    What a job only sends goes to a queue in memory that nobody reads.
    """
    app.conf.update(task_always_eager=True, task_eager_propagates=True, broker_url="memory://")


@pytest.fixture(autouse=True, scope="session")
def _nothing_is_collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What `make run` has collected in this checkout is not what a test server serves."""
    with override_settings(STATIC_ROOT=str(tmp_path_factory.mktemp("static") / "none")):
        yield


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a team of their own, with a browser that is logged in."""

    user: User
    team: Team
    client: Client

    def imports(self, data: bytes, name: str = "session.jsonl") -> Session:
        """The session that a file of these bytes becomes in this team."""
        return import_file(self.team, source_of(data, name)).session


def source_of(data: bytes, name: str = "session.jsonl") -> Source:
    return Source(name, len(data), lambda: BytesIO(data))


def _person(name: str) -> Person:
    user = User.objects.create_user(name)
    team = Team.objects.create(name=f"Team of {name}")
    Membership.objects.create(team=team, user=user, role=Membership.Role.OWNER)
    client = Client()
    client.force_login(user)
    return Person(user, team, client)


@pytest.fixture
def alice(db: None) -> Person:
    return _person("alice")


@pytest.fixture
def bob(db: None) -> Person:
    return _person("bob")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    tmp_path_factory: pytest.TempPathFactory,
    django_db_modify_db_settings_parallel_suffix: None,
) -> None:
    """SQLite in a file, as the product has it: threads wait for each other's locks. In memory they
    would be refused ("table is locked")."""
    database = connections["default"].settings_dict
    if database["ENGINE"].endswith("sqlite3"):
        database["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture
def at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that takes up each job as soon as it is there, in the thread that asked for it."""
    app.loader.import_default_modules()
    monkeypatch.setattr(
        jobs, "wake", lambda job: app.tasks[jobs.KINDS[job.kind].task](str(job.uuid))
    )


@pytest.fixture
def data_dir(settings: Settings, tmp_path: Path) -> Path:
    """A data folder of the test's own."""
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


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
