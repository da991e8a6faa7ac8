"""Every tool call followed by its result: how a history is put in order before it is replayed.

Providers refuse a call without a result and a result without a call. The repair moves results next to
their calls, drops orphans and duplicates, and writes an error result where none came (spec pruning
9.3, profiles 2.8 and 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from compaction_app.engine.pruning.change import Change, text_chars
from compaction_app.engine.pruning.tool_calls import (
    TOOL_CALLS_2026_3,
    TOOL_CALLS_2026_4_20,
    TOOL_CALLS_2026_5_28,
    TOOL_CALLS_2026_9,
    ToolCall,
    ToolCallRules,
    missing_result,
    normal_result_name,
    result_id,
    tool_calls,
)
from sessions_app.tokens import javascript as js

PAIRING: Final = "tool_result_pairing"
ErroredPolicy = Literal["preserve", "drop"]


@dataclass(frozen=True, slots=True)
class PairingRules:
    """How a version repairs.

    ``span_ends_at_plain_assistant``: whether an assistant message without calls ends the search for
    results. ``adopts_ids``: whether a result without any id may take the id of the only call.
    ``errored_turns``: a turn that ended in an error keeps only its message (``orphan_results``), its
    message and, by policy, its results (``drop_results``), or may be dropped whole (``drop_turn``).
    ``ids_by_turn``: a later turn may use an id again. ``drops_malformed``: what is no message is left
    out. ``compares``: a history counts as changed when it is another one, and never for what was only
    looked at.
    """

    calls: ToolCallRules
    span_ends_at_plain_assistant: bool
    adopts_ids: bool
    errored_turns: Literal["orphan_results", "drop_results", "drop_turn"]
    ids_by_turn: bool = False
    drops_malformed: bool = False
    compares: bool = False


PAIRING_2026_3: Final = PairingRules(
    calls=TOOL_CALLS_2026_3,
    span_ends_at_plain_assistant=True,
    adopts_ids=False,
    errored_turns="orphan_results",
)
PAIRING_2026_4_20: Final = PairingRules(
    calls=TOOL_CALLS_2026_4_20,
    span_ends_at_plain_assistant=True,
    adopts_ids=False,
    errored_turns="drop_results",
)
PAIRING_2026_5_28: Final = PairingRules(
    calls=TOOL_CALLS_2026_5_28,
    span_ends_at_plain_assistant=False,
    adopts_ids=True,
    errored_turns="drop_turn",
)
PAIRING_2026_9: Final = replace(
    PAIRING_2026_5_28,
    calls=TOOL_CALLS_2026_9,
    ids_by_turn=True,
    drops_malformed=True,
    compares=True,
)


@dataclass(frozen=True, slots=True)
class RepairedPairing:
    """The repaired history (the same list when nothing had to be changed) and what was done to it.

    ``added`` are the error results made, also one that was not emitted because its id was taken.
    """

    messages: Sequence[Any]
    added: tuple[Mapping[str, Any], ...]
    dropped_duplicates: int
    dropped_orphans: int
    changed: bool
    changes: tuple[Change, ...]


@dataclass(slots=True)
class _Span:
    """One assistant message with calls, and what follows it up to the next turn."""

    results: dict[str, Any] = field(default_factory=dict)
    rest: list[Any] = field(default_factory=list)
    end: int = 0


def repair_pairing(
    messages: Sequence[Any],
    rules: PairingRules,
    now_ms: float,
    *,
    errored_policy: ErroredPolicy = "preserve",
    missing_text: str | None = None,
) -> RepairedPairing:
    """Put every result right behind its call; see the module for what happens to the others."""
    repair = _Repair(messages, rules, now_ms, errored_policy, missing_text)
    position = 0
    while position < len(messages):
        position = repair.take(position)
    repair.settle()
    return RepairedPairing(
        messages=repair.out if repair.changed else messages,
        added=tuple(repair.added),
        dropped_duplicates=repair.duplicates,
        dropped_orphans=repair.orphans,
        changed=repair.changed,
        changes=tuple(repair.changes),
    )


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, Mapping) else None


class _Repair:
    """The walk over one history."""

    def __init__(
        self,
        messages: Sequence[Any],
        rules: PairingRules,
        now_ms: float,
        policy: ErroredPolicy,
        missing_text: str | None,
    ) -> None:
        self.messages, self.rules, self.now_ms = messages, rules, now_ms
        self.policy, self.missing_text = policy, missing_text
        self.out: list[Any] = []
        self.added: list[Mapping[str, Any]] = []
        self.changes: list[Change] = []
        self.seen: set[str] = set()
        self.duplicates = self.orphans = 0
        self.changed = False

    def take(self, position: int) -> int:
        """Handle the message at ``position`` (with its span); the next position to look at."""
        message = self.messages[position]
        if self.rules.ids_by_turn:
            self.seen.clear()
        if self.rules.drops_malformed and not isinstance(message, Mapping):
            return position + 1
        if _role(message) == "toolResult":
            self._drop_orphan(position)
            return position + 1
        errored = _role(message) == "assistant" and message.get("stopReason") in (
            "error",
            "aborted",
        )
        calls = tool_calls(message) if _role(message) == "assistant" else []
        if not calls or (errored and self.rules.errored_turns == "orphan_results"):
            self.out.append(message)
            return position + 1
        span = self._span(position + 1, calls)
        if errored:
            self._emit_errored(position, calls, span)
        else:
            self._emit(position, calls, span)
        self.out.extend(span.rest)
        return span.end

    def settle(self) -> None:
        """Whether the history is another one than before."""
        if self.rules.compares:
            self.changed = len(self.out) != len(self.messages) or any(
                a is not b for a, b in zip(self.out, self.messages, strict=True)
            )

    def _span(self, start: int, calls: list[ToolCall]) -> _Span:
        span = _Span()
        names = {call.id: call.name for call in calls}
        position = start
        while position < len(self.messages):
            message = self.messages[position]
            if _role(message) == "assistant" and (
                self.rules.span_ends_at_plain_assistant or tool_calls(message)
            ):
                break
            if _role(message) == "toolResult":
                self._collect(position, names, span)
            else:
                span.rest.append(message)
            position += 1
        span.end = position
        return span

    def _collect(self, position: int, names: dict[str, str | None], span: _Span) -> None:
        given = self.messages[position]
        result = self._adopted(given, names)
        found = result_id(result, self.rules.calls)
        if found is None or found not in names:
            self._drop_orphan(position)
        elif found in self.seen:
            self._drop_duplicate(position, given)
        elif found not in span.results:
            span.results[found] = named = normal_result_name(result, names[found], self.rules.calls)
            self.changed = self.changed or named is not given

    def _adopted(self, result: Any, names: dict[str, str | None]) -> Any:
        """A result without any id, given the id of the turn's only call unless the names conflict."""
        if not self.rules.adopts_ids or len(names) != 1:
            return result
        if result_id(result, self.rules.calls) is not None:
            return result
        ((call_id, name),) = names.items()
        own = result.get("toolName")
        own_name = js.trim(own) if isinstance(own, str) else ""
        if own_name and name and js.trim(name) and own_name != js.trim(name):
            return result
        return {**result, "toolCallId": call_id, "isError": True}

    def _emit(self, position: int, calls: list[ToolCall], span: _Span) -> None:
        self.out.append(self.messages[position])
        if span.results and span.rest:
            self.changed = True
        for call in calls:
            result = span.results.get(call.id)
            if result is None:
                result = missing_result(
                    call.id, call.name, self.missing_text, self.now_ms, self.rules.calls
                )
                self.added.append(result)
                self.changed = True
                self._note(position, 0, text_chars(result), "missing_result")
            self._emit_result(position, call.id, result)

    def _emit_errored(self, position: int, calls: list[ToolCall], span: _Span) -> None:
        message = self.messages[position]
        if self.policy == "drop":
            drops_turn = self.rules.errored_turns == "drop_turn"
            self.out.extend([] if drops_turn else [message])
            self.changed = self.changed or drops_turn or bool(span.results)
            return
        self.out.append(message)
        for call in calls:
            if call.id in span.results:
                self._emit_result(position, call.id, span.results[call.id])

    def _emit_result(self, position: int, call_id: str, result: Any) -> None:
        if call_id in self.seen:
            self._drop_duplicate(position, result)
        else:
            self.seen.add(call_id)
            self.out.append(result)

    def _drop_orphan(self, position: int) -> None:
        self.orphans += 1
        self.changed = True
        self._note(position, text_chars(self.messages[position]), 0, "orphan_result")

    def _drop_duplicate(self, position: int, result: Any) -> None:
        self.duplicates += 1
        self.changed = True
        self._note(position, text_chars(result), 0, "duplicate_result")

    def _note(self, position: int, before: int, after: int, reason: str) -> None:
        self.changes.append(Change(position, PAIRING, before, after, reason))
