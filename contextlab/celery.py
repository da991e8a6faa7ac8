"""The Celery application: broker, heartbeat of the worker, ends of its child processes."""

from __future__ import annotations

import os
from typing import Any

import structlog
from celery import Celery, bootsteps, signals

from contextlab.process import die_with_parent
from contextlab.worker_watch import PoolWatch, keep_scheduler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")

HEARTBEAT_SECONDS = 10

app = Celery("contextlab")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
log = structlog.get_logger("contextlab.worker")


class Heartbeat(bootsteps.StartStopStep):  # type: ignore[misc]  # celery has no types
    """Records that the worker's main process lives and its broker answers; looks after its parts.

    It runs on the main process's own timer, so that full pool slots do not make it late, and stops
    with the connection to the broker, so that a cut-off worker is not taken for a ready one.
    """

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self.timer_entry: Any = None
        self.pool_watch = PoolWatch()

    def start(self, consumer: Any) -> None:
        record_heartbeat(consumer.hostname)
        self.timer_entry = consumer.timer.call_repeatedly(HEARTBEAT_SECONDS, self.beat, (consumer,))

    def beat(self, consumer: Any) -> None:
        """What the main process does again and again."""
        record_heartbeat(consumer.hostname)
        keep_scheduler(consumer.controller)
        self.pool_watch.look(consumer.controller)

    def stop(self, consumer: Any) -> None:
        if self.timer_entry is not None:
            consumer.timer.cancel(self.timer_entry)
            self.timer_entry = None


app.steps["consumer"].add(Heartbeat)


def record_heartbeat(name: str) -> None:
    """One row per worker. A database that does not answer must not end the worker."""
    from django.db import Error, connection

    from contextlab.models import WorkerHeartbeat

    try:
        WorkerHeartbeat.record(name)
    except Error as error:
        log.warning("heartbeat not recorded", worker=name, error=type(error).__name__)
    finally:
        # The pool forks from this process: it must not inherit an open connection.
        connection.close()


@signals.setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_logging(**_: Any) -> None:
    """A receiver here keeps Celery from setting up logging of its own."""


@signals.worker_process_init.connect  # type: ignore[untyped-decorator]
@signals.beat_embedded_init.connect  # type: ignore[untyped-decorator]
def leave_no_orphans(**_: Any) -> None:
    """The processes of the pool and of beat end when the worker's main process is killed."""
    die_with_parent()


@app.task(name="contextlab.ping")  # type: ignore[untyped-decorator]
def ping() -> str:
    """Does nothing: its line in the worker's log says that broker and pool work."""
    return "pong"
