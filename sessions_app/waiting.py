"""Waiting for the end of a job."""

from __future__ import annotations

import asyncio
import time
from typing import Final
from uuid import UUID

from sessions_app.models import Job
from sessions_app.pool import in_pool

LOOK_SECONDS: Final = 0.25
MOST_SECONDS: Final = 120.0
OPEN: Final = (Job.State.QUEUED, Job.State.RUNNING)


async def job_ended(uuid: UUID, deadline: float) -> bool:
    """Whether a job has ended before ``deadline`` (of the monotonic clock)."""
    while await in_pool(_is_open, uuid):
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        await asyncio.sleep(min(LOOK_SECONDS, left))
    return True


def _is_open(uuid: UUID) -> bool:
    return Job.objects.filter(uuid=uuid, state__in=OPEN).exists()
