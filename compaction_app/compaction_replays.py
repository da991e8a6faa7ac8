"""A compaction's summary made anew by a chosen summariser, as a job; nothing of the session changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.contrib.auth.models import User

from compaction_app.chosen import choose
from compaction_app.compaction_replay import decided_under, remade
from compaction_app.engine.compaction.drive import Means
from compaction_app.engine.compaction.requests import ModelCall, Request
from compaction_app.forms import read_query
from compaction_app.models import CompactionRecord
from sessions_app import access, jobs
from sessions_app.models import Job
from sessions_app.working import CannotDo, Hold
from sessions_app.workspace import files_of

KIND: Final = "compaction_replay"
TASK: Final = "compaction_app.tasks.replay_compaction"


def request_new_summary(
    user: User, record: CompactionRecord, summariser: str, values: Mapping[str, str]
) -> Job:
    """A job of the user's own team; ``values`` are the settings and rules of the query."""
    arguments = {"record": str(record.uuid), "summariser": summariser, "values": dict(values)}
    title = f"{record.session.title}: summary anew by {summariser}"[:200]
    return jobs.enqueue(access.team_of(user), KIND, title, arguments)


def run(hold: Hold) -> Mapping[str, Any]:
    """Make the summary; the result is what ``compaction_replay.Remade`` is read from.

    Raises:
        CannotDo: where the record, or what it was made on, is gone, or there is no such summariser.
    """
    wanted = hold.job.arguments
    rows = CompactionRecord.objects.select_related("session__agent", "session__team", "step")
    record = rows.filter(uuid=wanted["record"]).first()
    under = decided_under(record) if record is not None else None
    if record is None or record.step is None or under is None:
        raise CannotDo("What the compaction was made on is gone.")
    query = read_query(wanted["values"], under)
    chosen = choose(record.session.team, wanted["summariser"], lambda: None, lambda asked: None)
    if chosen.problem:
        raise CannotDo(chosen.problem)
    asked = 0

    def before(request: Request) -> None:
        nonlocal asked
        hold.check()
        if isinstance(request, ModelCall):
            asked += 1
            hold.progress(asked - 1, 0, f"asks {chosen.summariser.name} (call {asked})")

    agent = record.session.agent
    means = Means(
        summarise=chosen.summariser.summarise,
        files=files_of(agent) if agent is not None else {},
        providers=chosen.all.providers(0),
        before=before,
        credentials=chosen.credentials,
    )
    made = remade(record, record.step, query.policy, query.around, means)
    return {**made.as_json(), "record": wanted["record"], "summariser": chosen.summariser.name}
