"""A recorded compaction made again, as a job: another summariser, another cut, and nothing is written.

The new summary stands in the job's result; what it keeps and loses is worked out when it is looked at.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from compaction_app.chosen import choose
from compaction_app.engine.compaction.drive import Means, drive
from compaction_app.engine.compaction.recorded_cut import at_recorded_cut
from compaction_app.engine.compaction.run import (
    CompactionOrder,
    CompactionRun,
    finish_compaction,
    run_compaction,
)
from compaction_app.engine.compaction.safeguard_settings import safeguard_settings
from compaction_app.engine.compaction_mode import compaction_timeout_ms
from compaction_app.engine.lines import lines_of
from compaction_app.engine.policy_config import config_with_policy
from compaction_app.engine.reasons import sentence
from compaction_app.recorded_compactions import RecordedCompaction, recorded_compaction
from compaction_app.runs import Situation, situation_of
from compaction_app.step_log import StepLog, TookTooLong
from compaction_app.summarising import Progress, Summarising, recorded_providers
from sessions_app import jobs
from sessions_app.models import Job, Session
from sessions_app.rows import storable
from sessions_app.transcripts.timestamps import iso_text
from sessions_app.working import CannotDo, Hold

KIND: Final = "resummary"
TASK: Final = "compaction_app.tasks.resummarise"
MAX_SUMMARY: Final = 200_000
LARGEST_KEEP: Final = 10_000_000
TIMED_OUT: Final = "The time that a compaction may take is over."


def request_resummary(
    session: Session, number: int, summariser: str, keep: int | None = None
) -> Job:
    """A job that makes the recorded compaction ``number`` again.

    Args:
        summariser: the name of one that the team has.
        keep: ``keepRecentTokens`` of another cut; none cuts where it was cut.
    """
    title = f"{session.title}: compaction {number} again by {summariser}"
    arguments = {"compaction": number, "summariser": summariser, "keep": keep}
    return jobs.enqueue(session.team, KIND, title, arguments, session=session)


def run(hold: Hold) -> Mapping[str, Any]:
    """Make it; the result holds the summary, where its tail begins, the calls and what they cost.

    Raises:
        CannotDo: why there is no other summary.
    """
    job = hold.job
    if job.session is None:
        raise CannotDo("The session is gone.")
    situation = situation_of(job.session)
    found = recorded_compaction(situation.window, int(job.arguments["compaction"]))
    if found is None:
        raise CannotDo("The session has no such compaction any more.")
    log = StepLog(hold, _timeout_ms(situation))
    run, name = _made(job, situation, found, log)
    summary = str((run.entry or {}).get("summary", ""))
    if run.entry is None or run.prepared is None:
        raise CannotDo(log.calls.advised(run.message or sentence(run.decision.reason)))
    return {
        "summary": f"{len(summary):,} characters by {name}",
        "text": storable(summary, MAX_SUMMARY),
        "kept": run.prepared.cut.kept.start,
        "summariser": name,
        "calls": log.calls.stored(),
        "cost": None if (cost := log.calls.cost()) is None else str(cost),
    }


def _timeout_ms(situation: Situation) -> int:
    around = situation.around
    return compaction_timeout_ms(around.rules.compaction_mode, around.config)


def _made(
    job: Job, situation: Situation, found: RecordedCompaction, log: StepLog
) -> tuple[CompactionRun, str]:
    chosen = choose(job.team, str(job.arguments["summariser"]), log.stopped, log.calls.asked)
    if chosen.problem:
        raise CannotDo(chosen.problem)
    if chosen.credentials.error:
        raise CannotDo(chosen.credentials.error)
    order = order_for(situation, job.arguments.get("keep"))
    rules = situation.around.rules
    path = found.path()
    asking = Summarising(chosen.summariser, log)
    means = Means(
        summarise=asking.one,
        at_once=asking.at_once,
        wait=log.wait,
        providers=recorded_providers(chosen, order.settings.reserve_tokens, log),
        before=Progress(log),
        credentials=chosen.credentials,
    )
    if job.arguments.get("keep") is None:
        ready = at_recorded_cut(path, found.start, found.kept, rules.id)
        steps = finish_compaction(path, order, ready, rules)
    else:
        steps = run_compaction(path, order, rules)
    try:
        run = drive(steps, means)
        log.check()
    except TookTooLong:
        raise CannotDo(TIMED_OUT) from None
    return run, chosen.summariser.name


def order_for(situation: Situation, keep: int | None) -> CompactionOrder:
    """The order under the session's own settings, by hand, so that it refuses with a reason."""
    policy, around = situation.policy, situation.around
    lines = lines_of(policy, around)
    config = config_with_policy(
        policy, around.provider, around.model, around.config, around.rules.config.unread_settings
    )
    settings = lines.settings
    if keep is not None:
        settings = replace(settings, keep_recent_tokens=keep)
    now = time.time_ns() // 1_000_000
    return CompactionOrder(
        mode=lines.mode,
        settings=settings,
        entry_id=KIND,
        timestamp=iso_text(now),
        now_ms=now,
        manual=True,
        model={
            "provider": around.provider,
            "id": around.model,
            "contextWindow": lines.window,
            "maxTokens": policy.max_tokens,
        },
        safeguard=safeguard_settings(config, lines.window),
        configured_keep=keep,
    )
