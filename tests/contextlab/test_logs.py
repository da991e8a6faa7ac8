"""One line per event, without what a session or a secret contains."""

from __future__ import annotations

import json
import logging
import logging.config
from collections.abc import Iterator
from io import StringIO

import pytest
import structlog
from django.contrib.auth.models import User
from django.test import Client

from contextlab import logs


@pytest.fixture
def written() -> Iterator[StringIO]:
    """What goes through the JSON configuration during a test."""
    root, stream = logging.getLogger(), StringIO()
    before, level = list(root.handlers), root.level
    logging.config.dictConfig(logs.configuration(level="INFO", form="json"))
    (handler,) = root.handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)


def lines(written: StringIO) -> list[str]:
    return written.getvalue().splitlines()


def test_events_of_ours_and_of_others_are_json_lines(written: StringIO) -> None:
    structlog.get_logger("lab").info("imported", entries=3)
    logging.getLogger("library").warning("slow: %s ms", 12)
    first, second = map(json.loads, lines(written))
    assert first | {"timestamp": ""} == {
        "event": "imported",
        "entries": 3,
        "level": "info",
        "logger": "lab",
        "timestamp": "",
    }
    assert (second["event"], second["logger"]) == ("slow: 12 ms", "library")


def test_an_error_with_its_traceback_is_one_line(written: StringIO) -> None:
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError:
        structlog.get_logger("lab").exception("failed")
    (line,) = lines(written)
    assert "ZeroDivisionError" in json.loads(line)["exception"]


def test_the_end_of_a_task_is_logged_without_what_it_was_given_or_returned(
    written: StringIO,
) -> None:
    data = {"id": "7", "name": "lab.import", "return_value": "text", "args": "text", "runtime": 0.5}
    logging.getLogger("celery.app.trace").info("Task returned text", extra={"data": data})
    (line,) = lines(written)
    assert "text" not in line
    assert json.loads(line)["ms"] == 500.0


@pytest.mark.django_db
def test_a_request_is_logged_by_its_route(written: StringIO, client: Client) -> None:
    User.objects.create_user("someone")
    client.get("/login/a-secret-token/?and=more")
    (line,) = lines(written)
    assert "secret" not in line
    event = json.loads(line)
    assert (event["route"], event["status"]) == ("login/<str:token>/", 410)


def test_probes_are_not_logged(written: StringIO, client: Client) -> None:
    client.get("/healthz")
    assert lines(written) == []
