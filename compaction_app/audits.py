"""The audit of an imported session: worked out by a worker after the import, kept as rows.

A turn is stored in one transaction with its decisions. So whoever does the job again, after a crash or
because the file has grown, goes on at the last turn that is stored: that one may have grown too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from django.conf import settings
from django.db import transaction

from compaction_app import checkpoints, decisions
from compaction_app.audit_stretches import Placed, audited_in_stretches, can_be_stretched
from compaction_app.decisions import Made
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy
from compaction_app.engine.simulation.audit import Since, audited_turns
from compaction_app.engine.simulation.inputs import Known, SimulationInputs, inputs_under
from compaction_app.engine.simulation.recording import read_recording
from compaction_app.engine.turn.record import CallRecord, Event, StageRecord
from compaction_app.live_steps import keep_config
from compaction_app.models import AppendOnlyRows, Decision, LiveStep
from compaction_app.models import AuditedTurn as Row
from compaction_app.runs import Situation, situation_of
from compaction_app.summarisers.extractive import extractive_summary
from sessions_app import jobs
from sessions_app.entries import window_of
from sessions_app.models import Job, Session, Window
from sessions_app.payload import unpack
from sessions_app.rows import entries_of_window
from sessions_app.transcripts.usage import UsageRules, normalize_usage, prompt_tokens

KIND: Final = "audit"
TASK: Final = "compaction_app.tasks.audit_session"
COMPACTION_STAGES: Final = ("compaction", "compaction_cut", "boundary")
"""Their decisions are never dropped while the session exists."""

Progress = Callable[[int], None]


def request_audit(session: Session) -> Job | None:
    """A job for the session's audit; none for one that is live, too long, audited or waits already."""
    if session.is_live or is_too_long(session) or is_done(session):
        return None
    waiting = Job.objects.filter(session=session, kind=KIND, state=Job.State.QUEUED)
    if waiting.exists():
        return None
    total = int(session.facts.get("turns") or 0)
    return jobs.enqueue(session.team, KIND, f"{session.title}: decisions", {}, total, session)


def is_too_long(session: Session) -> bool:
    """Whether it can neither be read whole nor in stretches."""
    if session.entry_count <= settings.AUDIT_ENTRIES:
        return False
    return not session.windows.exists() or not can_be_stretched(window_of(session))


def is_done(session: Session) -> bool:
    """Whether every entry of the session was known to its last audit, under its present settings."""
    window = session.windows.order_by("-sequence").first()
    last = Row.objects.filter(window=window).order_by("-number").first()
    if window is None or last is None:
        return False
    situation = situation_of(session)
    same = last.policy == decisions.policy_record(situation.policy, situation.around)
    return same and last.entries == window.entry_count


def audit_session(session: Session, progress: Progress = lambda turns: None) -> int:
    """Judge every turn that is not judged yet; returns how many were."""
    situation = situation_of(session)
    policy = decisions.policy_record(situation.policy, situation.around)
    keep_config(policy["config"], situation.around.config)
    done = 0
    for turn in _judged(situation, policy):
        _store(situation, turn, policy)
        done += 1
        progress(turn.number)
    return done


def _judged(situation: Situation, policy: Mapping[str, Any]) -> Iterator[Placed]:
    """The turns that are not judged yet: in stretches where the session is long."""
    last = _last(situation.window, policy)
    since = Since(last.number, last.index) if last else Since()
    if situation.session.entry_count > settings.AUDIT_ENTRIES:
        yield from audited_in_stretches(situation, since, last.prompt if last else 0)
        return
    for turn in audited_turns(simulation_of(situation), since):
        yield Placed(turn)


def simulation_of(
    situation: Situation,
    policy: Policy | None = None,
    around: Circumstances | None = None,
    entries: int | None = None,
) -> SimulationInputs:
    """The inputs of a stored session's audit or what-if, its texts loaded; its own policy by default.

    ``entries``: only so many from the beginning, as when the window held no more.
    """
    return simulation_under(
        known_of(situation, entries), policy or situation.policy, around or situation.around
    )


def known_of(situation: Situation, entries: int | None = None) -> Known:
    """What is known of a stored session, its texts loaded; ``entries`` as above."""
    session, window = situation.session, situation.window
    return Known(
        session_id=str(session.uuid),
        recording=read_recording(tuple(islice(entries_of_window(window), entries))),
        index=session.index_entry or {},
        own_policy=situation.policy,
        header_bytes=len(unpack(window.header)) + 1 if window.header else 0,
    )


def simulation_under(known: Known, policy: Policy, around: Circumstances) -> SimulationInputs:
    """The same under a policy and circumstances."""
    return inputs_under(policy, around, known, summarise=extractive_summary)


def _last(window: Window, policy: Mapping[str, Any]) -> Row | None:
    """The last turn that is stored, which is judged again since it may have grown; none under settings
    that have changed: then all is judged from the beginning."""
    last = Row.objects.filter(window=window).order_by("-number").first()
    return last if last is not None and last.policy == policy else None


def _store(situation: Situation, placed: Placed, policy: Mapping[str, Any]) -> None:
    """A turn and its decisions, in place of an earlier audit of the same turn."""
    done, number = placed.turn, placed.number
    session, window = situation.session, situation.window
    usage = situation.around.rules.usage
    recorded, result = done.turn.recorded, done.turn.result
    made = [Made(number, stage) for stage in result.stages]
    with transaction.atomic():
        for earlier in Row.objects.filter(window=window, number=number):
            checkpoints.drop(decisions_of(earlier).exclude(stage__in=COMPACTION_STAGES))
            earlier.delete()
        rows = decisions.record(
            session, made, reading=Decision.Reading.AUDIT, window=window, policy=policy
        )
        flushes, compactions = done.recorded
        Row.objects.create(
            session=session,
            window=window,
            number=number,
            start=done.start + placed.entries,
            prompt=recorded.seq + placed.entries,
            entries=window.entry_count,
            kind=recorded.kind,
            outcome=result.outcome,
            agrees=done.agrees,
            calls=len(result.calls),
            sent=[sent(call, usage) for call in result.calls],
            index=dict(done.index),
            events=[fired(event, result.stages) for event in result.events],
            recorded={
                "flushes": flushes,
                "compactions": compactions,
                "replies": sum(caused.kind == "injected" for caused in done.caused),
            },
            policy=policy,
            first=rows[0].pk if rows else None,
            last=rows[-1].pk if rows else None,
        )


def sent(call: CallRecord, rules: UsageRules) -> dict[str, Any]:
    """A model call as the page of its turn shows it; unknown figures are none."""
    usage = normalize_usage((call.answer or {}).get("usage"), rules)
    return {
        "run": call.run,
        "number": call.number,
        "entry": call.answer_id,
        "prompt": prompt_tokens(usage),
        "output": usage.output if usage else None,
        "messages": len(call.context.messages),
        "cut": len(call.context.changes),
    }


def fired(event: Event, stages: Sequence[StageRecord]) -> dict[str, Any]:
    """Something that fired, with the place of its decision among the turn's."""
    places = (place for place, stage in enumerate(stages) if stage.decision is event.decision)
    return {
        "kind": event.kind,
        "call": event.call,
        "before": event.tokens_before,
        "after": event.tokens_after,
        "threshold": event.threshold,
        "reason": event.reason,
        "decision": next(places, None),
    }


def decisions_of(basis: Row | LiveStep) -> AppendOnlyRows:
    """The decisions that were stored together, of an audited turn or a live step, in their order."""
    if not basis.first:
        return Decision.objects.none()
    is_live = isinstance(basis, LiveStep)
    reading = Decision.Reading.LIVE if is_live else Decision.Reading.AUDIT
    number = basis.turn if isinstance(basis, LiveStep) else basis.number
    of_turn = Decision.objects.filter(session=basis.session_id, turn=number, reading=reading)
    return of_turn.filter(id__range=(basis.first, basis.last)).order_by("id")
