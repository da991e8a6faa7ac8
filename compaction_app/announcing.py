"""A subagent's run has ended: what its requester is told, when, and how (spec compaction 7).

The announcement waits in the parent's queue, and its next prompt tells the model; an event of the parent
says that it is there. One that is postponed, because subagents of the subagent are still running, is made
when the last of them has ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from django.db import transaction

from compaction_app import decisions
from compaction_app.engine.composition.file_selection import is_cron_key, is_subagent_key
from compaction_app.engine.subagent.announce import stats_line
from compaction_app.engine.subagent.completion import (
    child_findings,
    completion_block,
    status_text,
)
from compaction_app.engine.subagent.delivery import Announcement, FinishedRun, announcement
from compaction_app.engine.subagent.instructions import reply_instruction
from compaction_app.engine.subagent.output import subagent_output
from compaction_app.engine.turn.record import StageRecord
from compaction_app.live_setup import LiveSetup
from compaction_app.models import Decision
from compaction_app.run_memory import memory_of
from compaction_app.spawning import COPIED, RUNNING
from sessions_app import store
from sessions_app.models import Session
from sessions_app.rows import branch_records
from sessions_app.writer import Writer
from sessions_app.writing import CannotWrite

Status = Literal["ok", "timeout", "error"]
Json = Mapping[str, Any]
DONE: Final[Mapping[str, str]] = {"ok": "done", "timeout": "timeout", "error": "failed"}
RESULT, OUTCOME, POSTPONED = "resultText", "announced", "postpone"
EVENT: Final = "subagent"


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of the end of a subagent: the announcement, the text that its parent is told (none where
    nothing is), and how many of its own subagents are still running."""

    announced: Announcement
    told: str | None
    pending: int


def end_subagent(session: Session, status: Status, error: str | None = None) -> Ended:
    """Note the end of a subagent's run and announce it to its parent. A second time changes nothing.

    Raises:
        CannotWrite: for a session that is nobody's subagent, or has ended before.
    """
    if session.parent_id is None:
        raise CannotWrite("The session is nobody's subagent; there is nobody to tell.")
    with transaction.atomic():
        with store.writing(session) as writer:
            if writer.state.index.get("status", RUNNING) != RUNNING:
                raise CannotWrite("The subagent has ended before.")
            started = writer.state.index.get("startedAt", writer.now_ms)
            messages = _messages(writer)
            change = {
                "status": DONE[status],
                "endedAt": writer.now_ms,
                "runtimeMs": max(0, writer.now_ms - started),
                **({"error": error} if error else {}),
                RESULT: subagent_output(messages) or "",
            }
            _note(writer, change)
        ended = _announce(session)
        _announce_above(session)
    return ended


def _announce(session: Session) -> Ended:
    """Decide about the announcement of a subagent that has ended, and queue it."""
    with store.writing(session) as writer:
        index, rules = writer.state.index, LiveSetup.of(writer.session).setup.rules
        children = list(Session.objects.filter(parent=session.pk).order_by("pk"))
        pending = sum(_is_pending(child) for child in children)
        finished = [_finding(child) for child in children if not _is_pending(child)]
        run = FinishedRun(
            status=_status(index),
            reply=index.get(RESULT),
            findings=child_findings(finished),
            pending_descendants=pending,
            is_cron=is_cron_key(session.key),
        )
        made = announcement(run, rules.id, rules.silent_reply)
        _note(writer, {OUTCOME: made.decision.outcome})
        _keep(writer, made)
    told = None
    if made.text is not None:
        told = _tell_parent(session, index, made.text)
    return Ended(made, told, pending)


def _announce_above(session: Session) -> None:
    """The parent's own announcement, where it has only waited for this one."""
    parent = session.parent
    if parent is None or (parent.index_entry or {}).get(OUTCOME) != POSTPONED:
        return
    if not any(map(_is_pending, Session.objects.filter(parent=parent.pk))):
        _announce(parent)
        _announce_above(parent)


def _tell_parent(session: Session, index: Json, text: str) -> str | None:
    """Queue the event for the parent's next prompt; none where the parent takes nothing any more."""
    parent = session.parent
    if parent is None:
        return None
    tokens = {name: index.get(name) or 0 for name in ("inputTokens", "outputTokens")}
    sent, received = tokens["inputTokens"], tokens["outputTokens"]
    internal = is_subagent_key(parent.key) or is_cron_key(parent.key)
    block = completion_block(
        [
            {
                "source": "subagent",
                "childSessionKey": session.key,
                "childSessionId": str(session.uuid),
                "announceType": "subagent task",
                "taskLabel": index.get("label") or index.get("task"),
                "statusLabel": status_text(_status(index), index.get("error")),
                "result": text,
                "statsLine": stats_line(
                    index.get("runtimeMs"),
                    sent + received,
                    sent,
                    received,
                    index.get("totalTokens"),
                ),
                "replyInstruction": reply_instruction(
                    for_session=internal, expects_completion=True
                ),
            }
        ]
    )
    try:
        with store.writing(parent) as writer:
            writer.state = replace(writer.state, queued=(*writer.state.queued, block))
            writer.event(EVENT, {"session": str(session.uuid), "status": _status(index)})
    except CannotWrite:  # archived meanwhile
        return None
    return block


def _messages(writer: Writer) -> Sequence[Json]:
    """What was said in the session itself; what a fork took over is the parent's."""
    copied = writer.state.index.get(COPIED, 0)
    records = list(branch_records(writer.window))[copied:]
    return [r["message"] for r in records if isinstance(r.get("message"), Mapping)]


def _is_pending(child: Session) -> bool:
    index = child.index_entry or {}
    return index.get("status") == RUNNING or index.get(OUTCOME) == POSTPONED


def _finding(child: Session) -> dict[str, Any]:
    index = child.index_entry or {}
    return {
        "childSessionKey": child.key,
        "label": index.get("label"),
        "task": index.get("task"),
        "createdAt": index.get("startedAt"),
        "outcome": {"status": _status(index), "error": index.get("error")},
        "completion": {"resultText": index.get(RESULT)},
    }


def _status(index: Json) -> str:
    known = {word: status for status, word in DONE.items()}
    return known.get(str(index.get("status")), "unknown")


def _note(writer: Writer, change: Json) -> None:
    writer.state = replace(writer.state, index={**writer.state.index, **change})


def _keep(writer: Writer, made: Announcement) -> None:
    setup = LiveSetup.of(writer.session).setup
    stage = StageRecord(made.decision.rule, "turn", 0, 1, made.decision)
    decisions.record(
        writer.session,
        [decisions.Made(memory_of(writer.state).turn, stage)],
        reading=Decision.Reading.LIVE,
        window=writer.window,
        policy=decisions.policy_record(setup.policy, setup.around),
    )
