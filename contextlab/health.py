"""``/healthz``: this process answers. ``/readyz``: everything that it needs works, part by part."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import redis
import structlog
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from contextlab.models import WorkerHeartbeat
from sessions_app.workers import Worker

HEARTBEAT_LATE = timedelta(seconds=35)  # three beats missed
BROKER_TIMEOUT = 2.0  # seconds

log = structlog.get_logger("contextlab.health")


class NotReady(Exception):
    """A part does not work; the text says how, without secrets."""


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The web process lives; nothing else is looked at."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when every part works, else 503; the answer says ``ok`` or what is wrong for each part."""
    parts = {name: state(name, check) for name, check in CHECKS.items()}
    ready = all(part == "ok" for part in parts.values())
    return JsonResponse({"ready": ready, "parts": parts}, status=200 if ready else 503)


def state(name: str, check: Callable[[], None]) -> str:
    try:
        check()
    except NotReady as reason:
        return str(reason)
    except Exception as error:
        # Drivers put addresses and names into their messages: those are for the log only.
        log.warning("not ready", part=name, error=str(error))
        return f"failed: {type(error).__name__}"
    return "ok"


def database_answers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def migrations_are_applied() -> None:
    executor = MigrationExecutor(connection)
    if missing := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise NotReady(f"{len(missing)} not applied: run manage.py migrate")


def broker_answers() -> None:
    if not settings.REDIS_URL:
        folder = Path(settings.CELERY_BROKER_FOLDER) / "messages"
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise NotReady("the folder of messages is missing or not writable")
        return
    with redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=BROKER_TIMEOUT,
        socket_connect_timeout=BROKER_TIMEOUT,
    ) as client:
        client.ping()


def a_worker_lives() -> None:
    seen = WorkerHeartbeat.objects.order_by("-seen_at").values_list("seen_at", flat=True).first()
    if seen is None:
        raise NotReady("no worker was ever seen")
    if (silence := timezone.now() - seen) > HEARTBEAT_LATE:
        raise NotReady(f"no worker seen for {silence.total_seconds():.0f} s")


def known_workers() -> list[Worker]:
    """Every worker that was seen in the last day."""
    now = timezone.now()
    beats = WorkerHeartbeat.objects.order_by("-seen_at")
    return [Worker(b.name, b.seen_at, now - b.seen_at <= HEARTBEAT_LATE) for b in beats]


CHECKS: dict[str, Callable[[], None]] = {
    "database": database_answers,
    "migrations": migrations_are_applied,
    "broker": broker_answers,
    "worker": a_worker_lives,
}
