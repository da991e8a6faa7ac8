"""Does a memory flush run before this turn, and on which numbers? (spec budgets 5.4)

The question is put in two steps, because the answer may need the transcript and reading is not free:
`transcript_needs` says what must be read, `decide_flush` decides with what was read. After a successful
run the session index remembers it (`sessions_app.transcripts.session_index.record_flush`).

A flush may follow a preflight compaction in the same turn: the transcript still shows the usage from
before the compaction, and where the window is small it is always read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.flush import MEMORY_FLUSH, flush_line, token_gate
from compaction_app.engine.flush_plan import FlushPlan
from compaction_app.engine.last_usage import LastUsage
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import MessageTokenRules, message_tokens
from sessions_app.transcripts.session_index import (
    INDEX_2026_5_28,
    IndexRules,
    is_known_fresh,
    was_flushed_in_cycle,
)

Number = int | float
Entry = Mapping[str, Any]

READ_BUFFER_TOKENS: Final = 8192
"""How far below the line a fresh total must be for the transcript to stay unread."""

WARNING_SIGN: Final = "⚠️"
ERROR_CHARS: Final = 600


@dataclass(frozen=True, slots=True)
class FlushRunRules:
    """What a version does differently around the run itself.

    ``creates_target_file``: an empty file is made before the run; ``shows_errors``: a failure is told
    to the user.
    """

    creates_target_file: bool
    shows_errors: bool


OPENCLAW_2026_4_20: Final = FlushRunRules(creates_target_file=False, shows_errors=False)
OPENCLAW_2026_5_28: Final = FlushRunRules(creates_target_file=True, shows_errors=True)


@dataclass(frozen=True, slots=True)
class FlushSituation:
    """What is known before anything is read.

    ``plan`` is None when the flush is off or nobody provides one. ``prompt_estimate`` are the tokens of
    the turn's prompt, None when it is blank. ``index``: how the entry is read.
    """

    plan: FlushPlan | None
    entry: Entry | None
    window: Number
    prompt_estimate: int | None = None
    is_heartbeat: bool = False
    is_cli_provider: bool = False
    can_write_workspace: bool = True
    index: IndexRules = INDEX_2026_5_28

    @property
    def stored_total(self) -> Number | None:
        """The stored total when it is above 0."""
        total = self.entry.get("totalTokens") if self.entry else None
        return total if js.is_finite(total) and total > 0 else None

    @property
    def is_fresh(self) -> bool:
        """Stricter than the gate: a missing flag is not fresh here."""
        if self.stored_total is None or self.entry is None:
            return False
        return is_known_fresh(self.entry) and not self.index.is_stale(self.entry)

    def skip_reason(self) -> str | None:
        """Why no flush is even considered, or None."""
        if self.plan is None:
            return "no_flush_plan"
        if self.is_heartbeat:
            return "heartbeat"
        if self.is_cli_provider:
            return "cli_provider"
        return None if self.can_write_workspace else "workspace_not_writable"


@dataclass(frozen=True, slots=True)
class TranscriptNeeds:
    """What the decision needs from the transcript file."""

    usage: bool = False
    size: bool = False


@dataclass(frozen=True, slots=True)
class FlushDecision:
    """The decision, and the session entry, whose total a larger finding in the transcript corrects.

    A corrected entry is to be stored even when no flush follows.
    """

    decision: Decision
    entry: Entry | None
    entry_changed: bool = False


def prompt_estimate(prompt: object, rules: MessageTokenRules) -> int | None:
    """Tokens of a turn's prompt as a user message; None when there is nothing in it."""
    text = js.trim(prompt) if isinstance(prompt, str) else ""
    return message_tokens({"role": "user", "content": text}, rules) if text else None


def effective_tokens(base: object, output: object, estimate: object) -> Number:
    """A projection: the last prompt, its answer, and the new prompt; what is missing counts 0."""
    parts = (part for part in (base, output, estimate) if js.is_number(part))
    return sum(js.maximum(0, part) for part in parts)


def transcript_needs(situation: FlushSituation) -> TranscriptNeeds:
    """What must be read before `decide_flush`; nothing when the flush is out of the question."""
    plan = situation.plan
    if plan is None or situation.skip_reason() is not None:
        return TranscriptNeeds()
    line = situation.window - plan.settings.reserve_floor - plan.settings.soft_threshold
    estimate, total = situation.prompt_estimate, situation.stored_total
    near = (
        estimate is not None
        and total is not None
        and line > 0
        and total + estimate >= line - READ_BUFFER_TOKENS
    )
    return TranscriptNeeds(usage=not situation.is_fresh or near, size=plan.settings.force_bytes > 0)


def decide_flush(
    situation: FlushSituation,
    last_usage: LastUsage | None,
    byte_size: int | None,
    rule_set: str,
) -> FlushDecision:
    """Decide with what was read; pass None for what was not, or could not be."""
    plan, reason = situation.plan, situation.skip_reason()
    if plan is None or reason is not None:
        return FlushDecision(_skipped(situation, reason or "", rule_set), situation.entry)
    entry, changed = _corrected(situation, last_usage)
    settings = plan.settings
    line = flush_line(situation.window, settings.reserve_floor, settings.soft_threshold)
    projection = _projection(situation, last_usage)
    gate = token_gate(
        entry, line, rule_set, projection.value if projection else None, situation.index
    )
    decision = gate.flush
    if projection is not None:
        decision = replace(decision, steps=(projection, *decision.steps))
    if not decision.fired and _forces(entry, byte_size, settings.force_bytes, situation.index):
        decision = _forced(decision, byte_size, settings.force_bytes)
    return FlushDecision(decision, entry, changed)


def _skipped(situation: FlushSituation, reason: str, rule_set: str) -> Decision:
    """What was never compared with a line: the conditions that had to hold first."""
    return Decision(
        rule=MEMORY_FLUSH,
        fired=False,
        outcome="skip",
        reason=reason,
        rule_set=rule_set,
        inputs={"contextWindow": situation.window, "totalTokens": situation.stored_total},
        steps=(
            Step("hasPlan", "memoryFlush.enabled is not false", situation.plan is not None, ""),
            Step("isHeartbeat", "not a heartbeat", situation.is_heartbeat, ""),
            Step("isCliProvider", "not a command line backend", situation.is_cli_provider, ""),
            Step("canWrite", 'workspaceAccess is "rw"', situation.can_write_workspace, ""),
        ),
    )


def _prompt_of(last_usage: LastUsage | None) -> Number:
    return (last_usage.prompt_tokens if last_usage else None) or 0


def _corrected(situation: FlushSituation, last: LastUsage | None) -> tuple[Entry | None, bool]:
    found, stored = _prompt_of(last), situation.stored_total
    if situation.entry is None or not found > 0:
        return situation.entry, False
    if situation.is_fresh and stored is not None and found <= stored:
        return situation.entry, False
    return {**situation.entry, "totalTokens": found, **situation.index.fresh_fields}, True


def _projection(situation: FlushSituation, last: LastUsage | None) -> Step | None:
    """Last prompt, its answer and the new prompt, or None when no snapshot is known."""
    stored = (situation.stored_total or 0) if situation.is_fresh else 0
    snapshot = max(stored, _prompt_of(last))
    if not snapshot > 0:
        return None
    output = last.output_tokens if last else None
    value = effective_tokens(snapshot, output, situation.prompt_estimate)
    formula = f"{snapshot} + lastOutput {output or 0} + prompt {situation.prompt_estimate or 0}"
    return Step("projected", formula, value)


def _forces(entry: Entry | None, byte_size: int | None, limit: int, index: IndexRules) -> bool:
    if entry is None or byte_size is None or not limit > 0:
        return False
    return byte_size >= limit and not was_flushed_in_cycle(entry, index)


def _forced(decision: Decision, byte_size: int | None, limit: int) -> Decision:
    step = Step("transcriptBytes", f"transcriptBytes >= {limit}", byte_size, "bytes")
    return replace(
        decision,
        fired=True,
        outcome="flush",
        reason="forced_by_transcript_size",
        inputs={
            **decision.inputs,
            "transcriptBytes": byte_size,
            "forceFlushTranscriptBytes": limit,
        },
        steps=(*decision.steps, step),
    )


@dataclass(frozen=True, slots=True)
class FlushModel:
    """The model a flush runs on; with an own model there is no fallback chain."""

    provider: str
    model: str
    allows_fallbacks: bool = True


def flush_model(provider: str, model: str, override: object) -> FlushModel:
    """The run's model, or the flush's own: `provider/model`, or a model of the same provider."""
    text = js.trim(override) if isinstance(override, str) else ""
    if not text:
        return FlushModel(provider, model)
    left, slash, right = text.partition("/")
    left, right = js.trim(left), js.trim(right)
    if slash and left and right:
        return FlushModel(left, right, allows_fallbacks=False)
    return FlushModel(provider, text, allows_fallbacks=False)


def error_text(message: str) -> str:
    """What the user sees of a failed flush: one warning sign, at most 600 characters."""
    text = message if message.startswith(WARNING_SIGN) else f"{WARNING_SIGN} {message}"
    if js.utf16_len(text) <= ERROR_CHARS:
        return text
    return js.utf16_slice(text, 0, ERROR_CHARS - 1) + "…"
