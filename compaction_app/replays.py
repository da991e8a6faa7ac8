"""Many decisions made again, as a job: how many come out as they are stored, to the byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from django.contrib.auth.models import User

from compaction_app.decision_replay import Judged, basis_of, made_under, replay
from compaction_app.models import AuditedTurn, Decision, LiveStep
from compaction_app.runs import Situation, situation_of
from sessions_app import access, jobs
from sessions_app.models import Job
from sessions_app.working import Hold

KIND: Final = "replay"
TASK: Final = "compaction_app.tasks.replay_decisions"
MOST: Final = 1_000
"""Decisions that one job replays: each judges its turn again."""

AGREES, DIFFERS, CHANGED, NOT_REPLAYABLE = VERDICTS = (
    "agrees", "differs", "configuration changed", "not replayable",
)  # fmt: skip
"""``differs``: same rules and inputs, another outcome, which is our fault. ``not replayable``: its
turn was judged anew since, or it is a live one from before the inputs of these were kept."""


def request_replay(user: User, rows: Iterable[Decision]) -> Job:
    """A job of the user's own team that replays these decisions."""
    wanted = [row.pk for row in rows]
    title = f"Replay of {len(wanted):,} decisions"
    return jobs.enqueue(access.team_of(user), KIND, title, {"decisions": wanted}, len(wanted))


def run(hold: Hold) -> Mapping[str, Any]:
    """Each verdict, with how many there are of each; a decision that was dropped meanwhile has none."""
    wanted = hold.job.arguments["decisions"]
    rows = Decision.objects.filter(pk__in=wanted).select_related("session__agent", "window")
    told: list[list[Any]] = []
    for row, verdict in verdicts(rows.order_by("session", "pk")):
        told.append([str(row.uuid), str(row.session.uuid), row.turn, row.rule, verdict])
        hold.progress(len(told), len(wanted))
    counts = Counter(verdict for *_, verdict in told)
    hold.note(", ".join(f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS))
    return {
        "counts": {verdict: counts[verdict] for verdict in VERDICTS},
        "gone": len(wanted) - len(told),
        "rows": told,
    }


def rows_of(job: Job) -> list[dict[str, Any]]:
    """The verdicts of a job that is done, for a table."""
    names = ("decision", "session", "turn", "rule", "verdict")
    return [dict(zip(names, row, strict=True)) for row in job.result.get("rows", ())]


def verdicts(rows: Iterable[Decision]) -> Iterator[tuple[Decision, str]]:
    """In the order of sessions, so that each is read once, and only where something is replayed."""
    session, situation, judged = 0, None, Judged()
    for row in rows:
        basis = basis_of(row)
        if basis is None:
            yield row, NOT_REPLAYABLE
            continue
        if situation is None or row.session_id != session:
            session, situation, judged = row.session_id, situation_of(row.session), Judged()
        yield row, _verdict(row, basis, situation, judged)


def _verdict(
    row: Decision, basis: AuditedTurn | LiveStep, situation: Situation, judged: Judged
) -> str:
    under = made_under(row, situation)
    done = replay(row, basis, under, under.policy, under.around, judged)
    if done.agrees:
        return AGREES
    return DIFFERS if done.is_defect else CHANGED
