"""A simulation as one JSON object: calls, events, totals, and what cannot be known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from compaction_app.engine.simulation.driver import SimulatedTurn
from compaction_app.engine.simulation.inputs import SimulationInputs
from compaction_app.engine.turn.record import CallRecord, Event
from sessions_app.tokens.javascript import utf16_len
from sessions_app.tokens.message_tokens import tokens_of_chars
from sessions_app.transcripts.usage import normalize_usage, prompt_tokens

UNKNOWABLE: Final = (
    "The answers are those of the recording: what the model would have said to another context nobody "
    "can know."
)
COMPACTIONS: Final = frozenset(
    {"preflight_compaction", "threshold_compaction", "overflow_compaction", "manual_compaction"}
)
DONE: Final = "compacted"


def what_if_report(inputs: SimulationInputs, turns: Sequence[SimulatedTurn]) -> dict[str, Any]:
    """The object of one session. ``call`` counts the calls of the session from 1, a flush's among them;
    an event's call is the one before which, or with which, it fired."""
    calls: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    for turn in turns:
        number, before = turn.recorded.number, len(calls)
        events += [event_json(number, before, event) for event in turn.result.events]
        calls += [_call(number, before, call, inputs) for call in turn.result.calls]
    blocked = sum(turn.result.outcome == "blocked" for turn in turns)
    return report_of(inputs, len(turns), blocked, calls, events)


def report_of(
    inputs: SimulationInputs,
    turns: int,
    blocked: int,
    calls: Sequence[dict[str, Any]],
    events: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """The object of a what-if, from its calls and events. The last of the ``summaries`` serves again and
    again; its ``tokens`` are none where they are written as they are needed."""
    return {
        "session": inputs.session_id,
        "ruleSet": inputs.setup.rules.id,
        "mode": "what-if",
        "calls": list(calls),
        "events": list(events),
        "totals": _totals(turns, blocked, calls, events),
        "summaries": {
            "source": inputs.summary_source,
            "tokens": [tokens_of_chars(utf16_len(s.text)) for s in inputs.summaries] or None,
        },
        "stripped": dict(sorted(inputs.recording.stripped.items())),
        "notes": [*inputs.notes, UNKNOWABLE],
    }


def event_json(turn: int, calls_before: int, event: Event) -> dict[str, Any]:
    return {
        "turn": turn,
        "call": calls_before + event.call,
        "kind": event.kind,
        "tokensBefore": event.tokens_before,
        "tokensAfter": event.tokens_after,
        "threshold": event.threshold,
        "reason": event.reason,
    }


def _call(turn: int, before: int, call: CallRecord, inputs: SimulationInputs) -> dict[str, Any]:
    answer = call.answer or {}
    usage = normalize_usage(answer.get("usage"), inputs.setup.rules.usage)
    return {
        "turn": turn,
        "call": before + call.number,
        "run": call.run,
        "promptTokens": prompt_tokens(usage),
        "outputTokens": usage.output if usage else None,
        "messages": len(call.context.messages),
        "cutMessages": len(call.context.changes),
    }


def _totals(
    turns: int,
    blocked: int,
    calls: Sequence[dict[str, Any]],
    events: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    sent = [call["promptTokens"] or 0 for call in calls]
    done = [e for e in events if e["kind"] in COMPACTIONS and e["reason"].startswith(DONE)]
    return {
        "turns": turns,
        "calls": len(calls),
        "flushes": sum(event["kind"] == "flush" for event in events),
        "compactions": len(done),
        "flushedBefore": _flushed_before(events),
        "blocked": blocked,
        "tokensSent": sum(sent),
        "peakPromptTokens": max(sent, default=0),
    }


def _flushed_before(events: Sequence[dict[str, Any]]) -> int:
    """How many compactions had a memory flush in their cycle before them."""
    flushed, found = False, 0
    for event in events:
        if event["kind"] == "flush":
            flushed = True
        elif event["kind"] in COMPACTIONS and event["reason"].startswith(DONE):
            found += flushed
            flushed = False
    return found
