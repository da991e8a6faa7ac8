"""What this floor announces to whoever listens, always after the commit."""

from __future__ import annotations

from django.dispatch import Signal

session_changed = Signal()
"""A session's entries or index entry have changed. Arguments: ``session``."""

session_told = Signal()
"""A session has new events in the outbox. Arguments: ``session`` (only its key and uuid are sure)."""
