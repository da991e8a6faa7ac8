"""Recorded runs and real transcripts with all their decisions, and what replaying each comes to."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from compaction_app import replays
from compaction_app.audits import audit_session
from compaction_app.models import Decision
from sessions_app.batches import import_files
from sessions_app.imports import Source
from sessions_app.models import Team
from tests.compaction_app.audited import sources
from tests.golden import runs
from tests.importers.reading import DATA, SAMPLES

TRANSCRIPTS = sorted((*SAMPLES.glob("*.jsonl"), *(DATA / "transcripts").glob("*.jsonl")))


def of_run(name: str) -> Counter[str]:
    """The verdicts on every decision of a recorded run."""
    return _verdicts(sources(runs.folder(name)))


def of_transcript(path: Path) -> Counter[str]:
    """The verdicts on every decision of a real transcript."""
    return _verdicts((Source.of_path(path, path.name),))


def _verdicts(files: tuple[Source, ...]) -> Counter[str]:
    team = Team.objects.create(name="ours")
    reports = list(import_files(team, files))
    sessions = {session.pk: session for report in reports for session in report.sessions}
    for session in sessions.values():
        audit_session(session)
    rows = Decision.objects.select_related("session__agent", "window").filter(session__in=sessions)
    found = Counter(verdict for _, verdict in replays.verdicts(rows.order_by("session", "pk")))
    assert found.total() == rows.count()
    return found
