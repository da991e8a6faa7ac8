"""A task that fills a slot of a worker's pool."""

from __future__ import annotations

import time

from contextlab.celery import app


@app.task(name="tests.sleep")
def sleep(seconds: float) -> None:
    time.sleep(seconds)
