"""A real Celery worker takes messages from either broker and says that it lives."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from contextlab import broker
from contextlab.management.commands.up import WORKER
from tests.services.conftest import wait_until
from tests.services.processes import ROOT, Program, environment

pytestmark = [pytest.mark.service, pytest.mark.timeout(180)]


@pytest.fixture(params=["files", "redis"])
def settings_of_broker(request: pytest.FixtureRequest) -> dict[str, str]:
    if request.param == "files":
        return {}
    return {"REDIS_URL": request.getfixturevalue("redis_url")}


def python(code: str, data: Path, settings: dict[str, str]) -> None:
    """Run a few lines in a process of their own, as the web server would."""
    setup = "import django; django.setup(); "
    subprocess.run(
        [sys.executable, "-c", setup + code],
        cwd=ROOT,
        env=environment(data, DJANGO_SETTINGS_MODULE="contextlab.settings", **settings),
        check=True,
    )


def migrated(data: Path, settings: dict[str, str]) -> None:
    broker.create(data / "broker")
    python(
        "from django.core.management import call_command as c; c('migrate', verbosity=0)",
        data,
        settings,
    )


@pytest.fixture
def worker(tmp_path: Path, settings_of_broker: dict[str, str]) -> Iterator[Program]:
    settings = settings_of_broker | {"WORKER_PROCESSES": "1"}
    migrated(tmp_path, settings)
    arguments = [*WORKER, "-I", "tests.services.slow_task"]
    with Program(arguments[2:], tmp_path, **settings) as program:
        program.wait_for(r" ready\.")
        yield program


def test_a_message_of_another_process_is_worked_off(
    worker: Program, tmp_path: Path, settings_of_broker: dict[str, str]
) -> None:
    python("from contextlab.celery import ping; ping.delay()", tmp_path, settings_of_broker)
    worker.wait_for(r"task succeeded .*task=contextlab\.ping", seconds=10)
    messages = tmp_path / "broker" / "messages"
    wait_until(lambda: not list(messages.iterdir()), "an empty folder of messages")


def test_it_says_that_it_lives_while_its_pool_is_full(
    worker: Program, tmp_path: Path, settings_of_broker: dict[str, str]
) -> None:
    code = "from tests.services.slow_task import sleep; sleep.delay(25); sleep.delay(25)"
    python(code, tmp_path, settings_of_broker)
    time.sleep(1)
    first = last_seen(tmp_path)
    wait_until(lambda: last_seen(tmp_path) > first, "another heartbeat", seconds=15)


def last_seen(data: Path) -> str:
    with sqlite3.connect(f"file:{data}/contextlab.sqlite3?mode=ro", uri=True) as connection:
        ((seen,),) = connection.execute("SELECT max(seen_at) FROM contextlab_workerheartbeat")
        return str(seen)


def test_it_survives_a_database_that_goes_away(
    tmp_path: Path, postgres_url: str, postgres_server: str, redis_url: str
) -> None:
    settings = {"DATABASE_URL": postgres_url, "REDIS_URL": redis_url}
    migrated(tmp_path, settings)
    name = postgres_url.rpartition("/")[2]
    with (
        psycopg.connect(postgres_server, autocommit=True) as admin,
        Program(list(WORKER)[2:], tmp_path, **settings) as program,
    ):
        program.wait_for(r" ready\.")
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        program.wait_for("heartbeat not recorded", seconds=20)
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        python("from contextlab.celery import ping; ping.delay()", tmp_path, settings)
        program.wait_for(r"task succeeded .*task=contextlab\.ping", seconds=10)
