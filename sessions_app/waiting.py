"""Waiting for the end of jobs: one look at all of them, however many wait."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from typing import Final
from uuid import UUID
from weakref import WeakKeyDictionary

from django.db import Error

from sessions_app.models import Job
from sessions_app.pool import in_pool

LOOK_SECONDS: Final = 0.25
MOST_SECONDS: Final = 120.0
log = logging.getLogger(__name__)


class _Ends:
    """Tells those who wait that their job has ended. One per event loop; it ends when nobody waits."""

    def __init__(self) -> None:
        self._waiting: defaultdict[UUID, set[asyncio.Event]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None

    async def wait(self, job: UUID, seconds: float) -> bool:
        ended = asyncio.Event()
        self._waiting[job].add(ended)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())
        try:
            await asyncio.wait_for(ended.wait(), seconds)
        except TimeoutError:
            return False
        finally:
            self._waiting[job].discard(ended)
            if not self._waiting[job]:
                del self._waiting[job]
        return True

    async def _run(self) -> None:
        while self._waiting:
            jobs = list(self._waiting)
            try:
                still_open = await in_pool(open_of, jobs)
            except Error as error:  # whoever waits must not be left alone by one failed look
                log.warning("looking for the ends of jobs failed: %s", error)
                still_open = set(jobs)
            for job in set(jobs) - still_open:
                for ended in self._waiting.get(job, ()):
                    ended.set()
            await asyncio.sleep(LOOK_SECONDS)


_ends: WeakKeyDictionary[asyncio.AbstractEventLoop, _Ends] = WeakKeyDictionary()


async def job_ended(job: UUID, deadline: float) -> bool:
    """Whether a job has ended before ``deadline`` (of the monotonic clock); one that is gone has."""
    left = deadline - time.monotonic()
    if left <= 0:
        return not await in_pool(open_of, [job])
    return await _ends.setdefault(asyncio.get_running_loop(), _Ends()).wait(job, left)


def open_of(jobs: list[UUID]) -> set[UUID]:
    """Those of the jobs that have not ended."""
    found = Job.objects.filter(uuid__in=jobs, state__in=Job.OPEN)
    return set(found.values_list("uuid", flat=True))
