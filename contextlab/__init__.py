"""The top floor: wiring only."""

from __future__ import annotations

from contextlab.celery import app as celery_app

__all__ = ["celery_app"]
