"""Which recordings are not what the runtime writes, so that a tape could not stand in for their texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from compaction_app.engine.pruning.tool_calls import normal_result_name, result_id, tool_calls
from compaction_app.engine.simulation.recording import RecordedCall, Recording
from compaction_app.engine.turn.work import message_of
from sessions_app.tokens.pressure import is_tool_result

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

Message = Mapping[str, Any]


def unusual(recording: Recording, rules: RuleSet) -> str | None:
    """What is unusual: a rule set that cuts otherwise than a tape does, results that do not stand behind their calls in their order, calls that share an
    id, foreign forms of messages. None for a recording that a tape replays exactly."""
    if not is_known_on_tape(rules):
        return "a rule set whose cuts are not known by lengths"
    seen: set[str] = set()
    turns = (call for turn in recording.turns for call in turn.calls)
    flushes = (call for calls in recording.flushes for call in calls)
    for call in (*turns, *flushes):
        reason = _of_call(call, rules, seen)
        if reason is not None:
            return reason
    stored = (entry for turn in recording.turns for entry in (turn.entry, *turn.before))
    return _of_messages(map(message_of, stored))


def is_known_on_tape(rules: RuleSet) -> bool:
    """Whether a tape follows these rules: texts are cut by characters, results to a notice at least."""
    return not rules.pruning.recovery.elides


def _of_call(call: RecordedCall, rules: RuleSet, seen: set[str]) -> str | None:
    message = message_of(call.entry)
    ids = [made.id for made in tool_calls(message)]
    names = {made.id: made.name for made in tool_calls(message)}
    if seen.intersection(ids) or len(set(ids)) < len(ids):
        return "tool calls that share an id"
    seen.update(ids)
    if not isinstance(message.get("content"), list):
        return "an answer that is no list of blocks"
    found = [result_id(message_of(entry), rules.pruning.pairing.calls) for entry in call.results]
    own = [identity for identity in found if identity in names]
    if own != [identity for identity in ids if identity in own]:
        return "results in another order than their calls"
    for entry, identity in zip(call.results, found, strict=True):
        result = message_of(entry)
        if identity is None or normal_result_name(result, names.get(identity)) is not result:
            return "a result without its call's id or its tool's name"
    return _of_messages(map(message_of, call.results))


def _of_messages(messages: Iterable[Message]) -> str | None:
    for message in messages:
        if is_tool_result(message) and message.get("role") != "toolResult":
            return "tool results in a foreign form"
    return None
