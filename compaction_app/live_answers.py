"""What agents are answered, from the engine's values: receipts, pressure, what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction_app.api import stage_out
from compaction_app.engine.compaction.run import CompactionOrder
from compaction_app.engine.lines import Lines
from compaction_app.engine.silent_reply import SILENT_TOKEN
from compaction_app.engine.turn.requests import Compaction
from compaction_app.flush_asks import asked_flush
from compaction_app.flush_jobs import DUE
from compaction_app.live_report import Reported
from compaction_app.next_step import Next
from sessions_app.models import Job, Session
from sessions_app.transcripts.session_index import is_known_fresh, total_tokens

Json = dict[str, Any]


def appended_out(reported: Reported, origin: Sequence[int], job: Job | None) -> Json:
    """What a request stored and decided, each receipt with the sent message that it is of."""
    done = reported.appended
    return {
        "head": done.head,
        "entries": done.entries,
        "estimated_tokens": done.tokens,
        "receipts": [
            {
                "sent": sent,
                "id": receipt.id,
                "added": list(receipt.added),
                "reason": receipt.reason,
                "changes": list(receipt.changes),
                "estimated_tokens": receipt.tokens,
                "billed_tokens": receipt.billed,
            }
            for sent, receipt in zip(origin, done.receipts, strict=True)
        ],
        "pressure": pressure_out(reported.index, reported.setup.lines),
        "decisions": [stage_out(stage) for stage in reported.stages],
        "jobs": [job.uuid] if job else [],
        "event": done.event,
    }


def pressure_out(index: Mapping[str, Any], lines: Lines) -> Json:
    """How far the last run's total, by its entry in the index, is from each line of billed tokens."""
    total = total_tokens(index)
    known = None if total is None else round(total)
    return {
        "window": lines.window,
        "stored_total": known,
        "fresh": is_known_fresh(index),
        "fill": lines.fill(known),
        "lines": [
            {
                "name": line.name,
                "tokens": line.tokens,
                "unit": line.unit,
                "distance": line.distance(known),
            }
            for line in lines.lines
            if line.active
        ],
    }


def change_out(change: Any) -> Json:
    names = ("position", "rule", "before_chars", "after_chars", "reason")
    return {name: getattr(change, name) for name in names}


def follows_out(step: Next) -> Json:
    """What comes next in a turn, with all decisions on the way."""
    return {
        "action": step.action,
        "due": due_out(step.compaction) if step.compaction else None,
        "reply": step.reply,
    }


def due_out(due: Compaction) -> Json:
    """A compaction that is due."""
    order: CompactionOrder = due.order
    tokens = getattr(order, "observed_tokens", None)
    return {"trigger": due.trigger, "tokens": None if tokens is None else round(tokens)}


def flush_turn_out(session: Session, prompt: Json | None) -> Json | None:
    """The texts of a flush turn that the agent carries out itself."""
    asked = asked_flush(session, DUE, prompt)
    if asked.plan is None or asked.texts is None:
        return None
    return {
        "system_prompt": asked.system_prompt,
        "prompt": asked.texts.user_text,
        "target": asked.plan.relative_path,
        "silent_reply": SILENT_TOKEN,
    }
