"""What this floor announces to whoever listens, always after the commit."""

from __future__ import annotations

from django.dispatch import Signal

session_changed = Signal()
"""A session's entries or index entry have changed. Arguments: ``session``."""
