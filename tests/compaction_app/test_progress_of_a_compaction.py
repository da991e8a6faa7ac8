"""What a job says of each call before it is answered: which portion, and whether again."""

from __future__ import annotations

import pytest

from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.summarising import Progress
from sessions_app.models import Job
from sessions_app.working import Hold
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def test_portions_repetitions_and_passes_are_told_apart(alice: Person) -> None:
    from compaction_app.step_log import StepLog

    job = Job.objects.create(team=alice.team, kind="compaction", title="x", state="running")
    progress = Progress(StepLog(Hold(job), 60_000))
    portions = [(1, 2), (1, 2), (2, 2), (1, 2), (2, 2), (1, 1), (1, 3)]
    for portion in portions:
        progress(ModelCall((), 1, portion=portion))
    progress(ModelCall((), 1, turn_prefix=True))
    assert [line.text for line in job.lines.all()] == [
        "history: chunk 1 of 2 (call 1)",
        "history, again: chunk 1 of 2 (call 2)",
        "history: chunk 2 of 2 (call 3)",
        "history, pass 2: chunk 1 of 2 (call 4)",
        "history, pass 2: chunk 2 of 2 (call 5)",
        "history, pass 3: chunk 1 of 1 (call 6)",
        "history, pass 4: chunk 1 of 3 (call 7)",
        "beginning of the split turn: chunk 1 of 1 (call 8)",
    ]
