"""A recorded run in the database with its audit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from compaction_app.audits import audit_session
from sessions_app.batches import import_files
from sessions_app.folders import walk
from sessions_app.imports import Source
from sessions_app.models import Session, Team
from tests.golden import runs

Imports = Callable[[], list[Any]]


@cache
def sources(folder: Path) -> tuple[Source, ...]:
    return tuple(Source.of_path(p, p.relative_to(folder).as_posix()) for p in walk(folder))


def audited(team: Team, name: str = "growth-96k-dense") -> Session:
    """A run's session; nothing is told to whoever listens to imports."""
    reports = list(import_files(team, sources(runs.folder(name))))
    (session,) = [session for report in reports for session in report.sessions]
    audit_session(session)
    return session
