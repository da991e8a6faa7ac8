"""What is said after a compaction (spec profiles 6)."""

from __future__ import annotations

from tests.conformance.compaction.refresh import refresh

FUNCTIONS = {"postCompactionContext": refresh}
