"""Loaded by a worker under test: does what the file ``fault`` in its data folder says, once.

``{"after": 3, "act": "child"}``: behind the fourth step from now on, kill the process that does the job.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import psycopg
from django.conf import settings
from django.db import connection
from django.utils import timezone

from compaction_app.step_log import after_each_step

BACK = timedelta(hours=5)


def fault_file() -> Path:
    return Path(settings.DATA_DIR) / "fault"


def kill_child() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_worker() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)  # the kernel takes this process along


def drop_connection() -> None:
    """The database server closes the connection of the process that does the job."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    values = connection.get_connection_params()
    given = {name: values[name] for name in ("dbname", "user", "host", "port") if values.get(name)}
    with psycopg.connect(**given, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])


def fill_disk() -> None:
    """From here on the database cannot grow, as on a full disk, until it is opened anew."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_count")
        (pages,) = cursor.fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages}")


def turn_clock_back() -> None:
    """The clock of this process, from here on."""
    now, nanoseconds = timezone.now, time.time_ns

    def earlier() -> datetime:
        return now() - BACK

    timezone.now = earlier
    time.time_ns = lambda: nanoseconds() - int(BACK.total_seconds()) * 1_000_000_000


ACTS: dict[str, Callable[[], None]] = {
    "child": kill_child,
    "worker": kill_worker,
    "drop": drop_connection,
    "full": fill_disk,
    "clock": turn_clock_back,
}


def on_step(name: str) -> None:
    path = fault_file()
    try:
        wanted = json.loads(path.read_text())
    except FileNotFoundError:
        return
    if wanted["after"] > 0:
        path.write_text(json.dumps({**wanted, "after": wanted["after"] - 1}))
        return
    path.rename(path.with_name("fault.done"))
    path.with_name("fault.done").write_text(name)
    ACTS[wanted["act"]]()


after_each_step(on_step)
