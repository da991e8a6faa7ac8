"""What a worker's main process looks after: its scheduler, and whether its pool still takes work."""

from __future__ import annotations

import os
import time
from typing import Any

import structlog
from celery.beat import EmbeddedService
from celery.worker import state

STUCK_SECONDS = 30.0
"""So long nothing is taken by a pool that has room before it is given up."""

log = structlog.get_logger("contextlab.worker")


def keep_scheduler(worker: Any) -> None:
    """Start the scheduler inside a worker anew when its process has died; the system may kill any.

    Without it nobody would find the jobs of a worker that died.
    """
    scheduler = getattr(worker, "beat", None)
    if scheduler is None or scheduler.is_alive():
        return
    log.warning("the scheduler has died and is started again")
    worker.beat = EmbeddedService(
        worker.app, schedule_filename=worker.schedule_filename, scheduler_cls=worker.scheduler
    )
    for step in worker.steps:
        if getattr(step, "obj", None) is scheduler:
            step.obj = worker.beat  # what ends with the worker
    worker.beat.start()


class PoolWatch:
    """Notices a pool that takes nothing although it has room.

    A process of the pool that is killed while it waits for work takes the lock of the common queue
    with it, so that no other one gets any (the queue of files shares one; that of Redis does not).
    """

    def __init__(self) -> None:
        self._since: float | None = None

    def is_stuck(self, waiting: int, free: int, now: float) -> bool:
        """Whether tasks have been ``waiting`` for processes that are ``free`` for too long."""
        if not waiting or free <= 0:
            self._since = None
        elif self._since is None:
            self._since = now
        return self._since is not None and now - self._since >= STUCK_SECONDS

    def look(self, worker: Any) -> None:
        """End a worker whose pool is stuck: whoever keeps it running starts it again, and the leases
        of its jobs run out. An orderly end would wait for the lock that nobody gives back."""
        active = set(state.active_requests)
        waiting = len(set(state.reserved_requests) - active)
        free = int(worker.pool.num_processes) - len(active)
        if self.is_stuck(waiting, free, time.monotonic()):
            log.error("the pool takes no work any more: the worker ends", waiting=waiting)
            os._exit(1)
