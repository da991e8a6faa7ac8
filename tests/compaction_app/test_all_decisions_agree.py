"""Every decision of every recorded run and real transcript, made again from its row: the same to the byte."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from compaction_app import replays
from compaction_app.audits import audit_session
from compaction_app.models import Decision
from sessions_app.batches import import_files
from sessions_app.imports import Source
from sessions_app.models import Session, Team
from tests.compaction_app.audited import audited
from tests.golden import runs
from tests.importers.reading import SAMPLES

TRANSCRIPTS = sorted(SAMPLES.glob("*.jsonl"))


def verdicts() -> Counter[str]:
    rows = Decision.objects.select_related("session__agent", "window").order_by("session", "pk")
    return Counter(verdict for _, verdict in replays.verdicts(rows))


@pytest.mark.django_db
@pytest.mark.parametrize("name", runs.NAMES)
def test_of_a_recorded_run(name: str) -> None:
    audited(Team.objects.create(name="ours"), name)

    assert verdicts() == {replays.AGREES: Decision.objects.count()}
    assert Decision.objects.count() > 10


@pytest.mark.django_db
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_of_a_real_transcript(path: Path) -> None:
    team = Team.objects.create(name="ours")
    list(import_files(team, [Source.of_path(path, path.name)]))
    for session in Session.objects.all():
        audit_session(session)

    assert verdicts() == {replays.AGREES: Decision.objects.count()}
    assert Decision.objects.count() > 10
