"""``/healthz`` says that the process lives, ``/readyz`` which part keeps it from being ready."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from contextlab import broker, health
from contextlab.models import WorkerHeartbeat


@pytest.fixture
def _all_parts_work(db: None, settings: Settings, tmp_path: Path) -> None:
    settings.REDIS_URL = ""
    settings.CELERY_BROKER_FOLDER = tmp_path / "broker"
    broker.create(settings.CELERY_BROKER_FOLDER)
    WorkerHeartbeat.record("worker@here")


def failing(client: Client) -> dict[str, Any]:
    answer = client.get("/readyz")
    assert answer.status_code == 503
    body = answer.json()
    assert body["ready"] is False
    return {name: said for name, said in body["parts"].items() if said != "ok"}


def test_it_lives_without_a_database(client: Client) -> None:
    assert client.get("/healthz").content == b"ok\n"


@pytest.mark.usefixtures("_all_parts_work")
def test_it_is_ready_when_all_parts_work(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "ready": True,
        "parts": {"database": "ok", "migrations": "ok", "broker": "ok", "worker": "ok"},
    }


@pytest.mark.usefixtures("_all_parts_work")
def test_a_database_that_does_not_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("connection to postgresql://me:secret@db failed")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", refuse)
        assert failing(client)["database"] == "failed: OperationalError"


@pytest.mark.usefixtures("_all_parts_work")
def test_a_migration_that_is_not_applied(client: Client) -> None:
    MigrationRecorder.Migration.objects.filter(app="contextlab").delete()
    assert "not applied: run manage.py migrate" in failing(client)["migrations"]


@pytest.mark.usefixtures("_all_parts_work")
def test_a_broker_folder_that_is_missing(client: Client, settings: Settings) -> None:
    settings.CELERY_BROKER_FOLDER = Path("/nowhere")
    assert list(failing(client)) == ["broker"]


@pytest.mark.usefixtures("_all_parts_work")
def test_a_redis_that_does_not_answer(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "redis://:secret@127.0.0.1:1/0"
    assert failing(client) == {"broker": "failed: ConnectionError"}


@pytest.mark.usefixtures("_all_parts_work")
def test_no_worker_was_ever_there(client: Client) -> None:
    WorkerHeartbeat.objects.all().delete()
    assert failing(client) == {"worker": "no worker was ever seen"}


@pytest.mark.usefixtures("_all_parts_work")
def test_the_last_worker_fell_silent(client: Client) -> None:
    WorkerHeartbeat.objects.update(seen_at=timezone.now() - timedelta(seconds=90))
    said = failing(client)
    assert said.keys() == {"worker"}
    assert re.fullmatch(r"no worker seen for (9|10)\d s", said["worker"]), said


@pytest.mark.usefixtures("_all_parts_work")
def test_one_living_worker_is_enough(client: Client) -> None:
    old = timezone.now() - timedelta(hours=1)
    WorkerHeartbeat.objects.create(name="worker@elsewhere", seen_at=old)
    assert client.get("/readyz").status_code == 200


@pytest.mark.usefixtures("_all_parts_work")
def test_a_worker_has_one_row_and_is_forgotten_after_a_day() -> None:
    old = timezone.now() - timedelta(days=2)
    WorkerHeartbeat.objects.create(name="worker@gone", seen_at=old)
    WorkerHeartbeat.record("worker@here")
    assert [beat.name for beat in WorkerHeartbeat.objects.all()] == ["worker@here"]


def test_it_only_answers_reads(client: Client) -> None:
    assert client.post("/healthz").status_code == 405
    assert client.post("/readyz").status_code == 405


def test_every_part_is_named() -> None:
    assert list(health.CHECKS) == ["database", "migrations", "broker", "worker"]
