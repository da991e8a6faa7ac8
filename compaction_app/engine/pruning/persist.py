"""What a session stores of a message, and which error results it writes itself.

Every message passes the session guard before it is appended. A tool result is capped for good, its
details are reduced, its name is filled in from the call. The guard remembers calls without a result
and, before the conversation goes on, writes an error result for each (spec pruning 7, profiles 2.8
and 4). It does not repair the order of results: that happens before a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from compaction_app.engine.pruning.change import Change, change
from compaction_app.engine.pruning.details import (
    stored_details,
)
from compaction_app.engine.pruning.persist_rules import PERSIST_2026_5_28, PersistRules
from compaction_app.engine.pruning.redaction import Redaction, redaction
from compaction_app.engine.pruning.tool_calls import (
    ToolCall,
    missing_result,
    normal_result_name,
    result_id,
    sanitize_tool_calls,
    tool_calls,
)
from compaction_app.engine.pruning.truncate import cap_message
from sessions_app.tokens import javascript as js

PERSIST: Final = "persist_tool_result"
TRANSCRIPT_ONLY_PROVIDER: Final = "openclaw"
TRANSCRIPT_ONLY_MODELS: Final = frozenset({"delivery-mirror", "gateway-injected"})


class InvalidEntry(ValueError):
    """A message that the version's session store refuses; the text is the runtime's."""


Transform = Callable[[Any], Any]
"""Gives a message its new form."""


@dataclass(frozen=True, slots=True)
class ResultOrigin:
    """What a transformer of tool results is told about the result."""

    call_id: str | None
    tool_name: str | None
    is_synthetic: bool


@dataclass(frozen=True, slots=True)
class PersistOptions:
    """How one session is guarded. ``before_write`` may answer none to keep a message out."""

    max_chars: float
    logging: Mapping[str, Any] | None = None
    allow_synthetic_results: bool = True
    missing_text: str | None = None
    allowed_names: frozenset[str] | None = None
    suppress_transcript_only: bool = False
    suppress_assistant_errors: bool = False
    transform: Transform | None = None
    transform_result: Callable[[Any, ResultOrigin], Any] | None = None
    before_write: Transform | None = None


@dataclass(frozen=True, slots=True)
class PersistState:
    """What the guard remembers: calls still without a result (an id once, its latest name), and
    whether the next user message is to be left out."""

    pending: Mapping[str, str | None] = field(default_factory=dict)
    skip_next_user: bool = False


@dataclass(frozen=True, slots=True)
class Persisted:
    """The messages to append, in order; whether the given message is among them; what changed.

    ``reason`` says why a message was left out: ``no_valid_calls``, ``blocked_by_hook``,
    ``suppressed``; or ``stored``. Positions of changes count in ``messages``.
    """

    messages: tuple[Any, ...]
    stored: bool
    state: PersistState
    reason: str
    changes: tuple[Change, ...] = ()


def is_transcript_only(message: Mapping[str, Any]) -> bool:
    """An assistant message of the runtime itself, which answers no call (7.1)."""
    provider, model = message.get("provider"), message.get("model")
    return (
        isinstance(provider, str)
        and isinstance(model, str)
        and message.get("role") == "assistant"
        and js.trim(provider) == TRANSCRIPT_ONLY_PROVIDER
        and js.trim(model) in TRANSCRIPT_ONLY_MODELS
    )


def capped_for_storage(
    message: Any, max_chars: float, rules: PersistRules, secrets: Redaction | None = None
) -> Any:
    """A tool result with its text capped and its details reduced; else the same object (7.4)."""
    capped = cap_message(message, max_chars, rules.truncation)
    if not rules.reduces_details or not isinstance(capped, Mapping):
        return capped
    if capped.get("role") != "toolResult" or capped.get("details") is None:
        return capped
    details = stored_details(capped["details"], secrets or redaction(None), rules.details)
    return capped if details is capped["details"] else {**capped, "details": details}


def redacted_message(
    message: Any, logging: Mapping[str, Any] | None, rules: PersistRules = PERSIST_2026_5_28
) -> Any:
    """A whole message with its secrets masked, unless ``redactSensitive`` is "off" (14)."""
    if (logging or {}).get("redactSensitive") == "off":
        return message
    secrets = redaction(logging, hides_assigned=rules.hides_assigned)
    return secrets.value(message, mask_scalars=False)


def persist_message(
    message: Any, state: PersistState, options: PersistOptions, rules: PersistRules, now_ms: float
) -> Persisted:
    """What appending ``message`` stores, and what the guard remembers afterwards (7.1)."""
    role = message.get("role") if isinstance(message, Mapping) else None
    if role == "toolResult":
        return _persist_result(message, state, options, rules)
    if role == "assistant":
        clean = sanitize_tool_calls([message], rules.calls, options.allowed_names)
        if not clean:
            flushed = flush_pending(state, options, rules, now_ms)
            return replace(flushed, stored=False, reason="no_valid_calls")
        message = clean[0]
    calls = _tracked_calls(message)
    flushed = Persisted((), False, state, "stored")
    flushes = not rules.calls_wait if calls else not _leaves_pending(message, rules)
    if state.pending and flushes:
        flushed = flush_pending(state, options, rules, now_ms)
    return _persist_other(message, calls, flushed, options, rules)


def _tracked_calls(message: Any) -> list[ToolCall]:
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        return []
    return [] if message.get("stopReason") in ("aborted", "error") else tool_calls(message)


def _leaves_pending(message: Any, rules: PersistRules) -> bool:
    return (
        rules.spares_transcript_only
        and isinstance(message, Mapping)
        and is_transcript_only(message)
    )


def _persist_result(
    message: Mapping[str, Any], state: PersistState, options: PersistOptions, rules: PersistRules
) -> Persisted:
    call_id = result_id(message, rules.calls)
    name = state.pending.get(call_id) if call_id else None
    left = {other: n for other, n in state.pending.items() if other != call_id}
    after = replace(state, pending=left)
    named = _transformed(normal_result_name(message, name, rules.calls), options)
    capped = _capped(named, options, rules)
    stored = _hooked(capped, ResultOrigin(call_id, name, is_synthetic=False), options)
    if stored is None:
        return Persisted((), False, state if rules.blocked_waits else after, "blocked_by_hook")
    if rules.validates and not isinstance(stored.get("content"), list):
        raise InvalidEntry("Invalid session transcript entry: message")
    if rules.caps_after_hooks:
        stored = _capped(stored, options, rules)
    changes = () if stored is message else (_stored_change(0, message, stored),)
    return Persisted((stored,), True, after, "stored", changes)


def _stored_change(position: int, given: Any, stored: Any) -> Change:
    made = change(position, PERSIST, given, stored, "capped")
    if made.removed_chars > 0:
        return made
    details = isinstance(stored, Mapping) and stored.get("details") is not given.get("details")
    return replace(made, reason="details_reduced" if details else "rewritten")


def _persist_other(
    message: Any,
    calls: list[ToolCall],
    flushed: Persisted,
    options: PersistOptions,
    rules: PersistRules,
) -> Persisted:
    role = message.get("role") if isinstance(message, Mapping) else None
    stored = _transformed(message, options)
    if options.before_write is not None:
        stored = options.before_write(stored)
    if stored is None:
        return replace(flushed, stored=False, reason="blocked_by_hook")
    state = flushed.state
    if rules.suppresses:
        mirrors = role == "assistant" and not calls and options.suppress_transcript_only
        errs = role == "assistant" and message.get("stopReason") == "error"
        errs = errs and rules.suppresses_errors
        if mirrors or (errs and options.suppress_assistant_errors):
            return replace(flushed, stored=False, reason="suppressed")
        if role == "user" and state.skip_next_user:
            disarmed = replace(state, skip_next_user=False)
            return replace(flushed, stored=False, state=disarmed, reason="suppressed")
    pending = {**state.pending, **{call.id: call.name for call in calls}}
    return Persisted(
        messages=(*flushed.messages, stored),
        stored=True,
        state=replace(state, pending=pending),
        reason="stored",
        changes=flushed.changes,
    )


def flush_pending(
    state: PersistState, options: PersistOptions, rules: PersistRules, now_ms: float
) -> Persisted:
    """Error results for all pending calls, unless none may be written; nothing stays pending (7.2)."""
    messages: list[Any] = []
    for call_id, name in state.pending.items() if options.allow_synthetic_results else ():
        made = missing_result(call_id, name, options.missing_text, now_ms, rules.calls)
        origin = ResultOrigin(call_id, name, is_synthetic=True)
        stored = _hooked(_transformed(made, options), origin, options)
        if stored is not None:
            messages.append(_capped(stored, options, rules) if rules.caps_after_hooks else stored)
    changes = tuple(
        replace(change(i, PERSIST, None, message, "missing_result"), before_chars=0)
        for i, message in enumerate(messages)
    )
    return Persisted(tuple(messages), False, replace(state, pending={}), "stored", changes)


def _transformed(message: Any, options: PersistOptions) -> Any:
    return message if options.transform is None else options.transform(message)


def _hooked(message: Any, origin: ResultOrigin, options: PersistOptions) -> Any:
    if options.transform_result is not None:
        message = options.transform_result(message, origin)
    return message if options.before_write is None else options.before_write(message)


def _capped(message: Any, options: PersistOptions, rules: PersistRules) -> Any:
    return capped_for_storage(message, options.max_chars, rules, redaction(options.logging))
