"""Loaded by a worker under test: it looks after its parts every half second."""

from __future__ import annotations

import contextlab.celery
from contextlab import worker_watch

contextlab.celery.HEARTBEAT_SECONDS = 0.5  # type: ignore[assignment]
worker_watch.STUCK_SECONDS = 2.0
