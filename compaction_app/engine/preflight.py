"""Does a session have to be compacted before this turn? (spec budgets 5.5, profiles 4)

Like the flush the question has two steps: `transcript_needs` says what must be read, `decide_preflight`
decides. The versions judge different numbers: the later one the stored total alone when it is fresh,
the earlier one nothing at all as long as any total is stored, 2026.9 the total with the last answer and
the new prompt, and against a line without the soft threshold (spec profiles 5.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app.engine.config.byte_size import parse_byte_size
from compaction_app.engine.config_value import value_at
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.flush import PREFLIGHT, Line, flush_line, token_gate
from compaction_app.engine.flush_run import READ_BUFFER_TOKENS, effective_tokens
from compaction_app.engine.last_usage import (
    TranscriptEstimate,
    estimate_from_messages,
    estimate_from_usage,
)
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.session_index import (
    INDEX_2026_5_28,
    INDEX_2026_9,
    IndexRules,
    fresh_total_tokens,
    total_tokens,
)

Number = int | float
Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PreflightSituation:
    """What is known before anything is read; settings in tokens, ``max_active_bytes`` in bytes.

    ``server_threshold`` is where the provider's own compaction begins; ``max_active_bytes`` the size
    from which a transcript is compacted whatever it holds. Both are None when not in use.
    """

    entry: Entry | None
    window: Number
    reserve_floor: Number
    soft_threshold: Number
    prompt_estimate: int | None = None
    server_threshold: int | None = None
    max_active_bytes: int | None = None
    has_session: bool = True
    is_heartbeat: bool = False
    is_cli_provider: bool = False
    is_codex_runtime: bool = False

    def skip_reason(self) -> str | None:
        """Why no preflight compaction is even considered, or None."""
        if not self.has_session or self.entry is None:
            return "no_session_entry"
        if self.is_heartbeat:
            return "heartbeat"
        if self.is_cli_provider:
            return "cli_provider"
        return "codex_runtime" if self.is_codex_runtime else None


def _judge_total_or_estimate(
    situation: PreflightSituation, estimate: TranscriptEstimate | None
) -> Step | None:
    """A fresh total alone, without prompt and output; else the estimate, never below a stale total."""
    fresh = fresh_total_tokens(situation.entry)
    if fresh is not None:
        return Step("judged", "floor(totalTokens)", math.floor(fresh))
    stale = math.floor(total_tokens(situation.entry) or 0)
    projected: Number = 0
    if estimate is not None and estimate.prompt_tokens:
        projected = effective_tokens(
            estimate.prompt_tokens, estimate.output_tokens, situation.prompt_estimate
        )
    formula = "max(transcript + lastOutput + prompt, stale totalTokens)"
    judged = max(projected, stale)
    return Step("judged", formula, judged) if judged > 0 else None


def _judge_projection(
    situation: PreflightSituation, estimate: TranscriptEstimate | None
) -> Step | None:
    """The fresh total or what the transcript says, the larger, each with answer and new prompt."""
    output = estimate.output_tokens if estimate is not None else None
    read = estimate.prompt_tokens if estimate is not None else None
    fresh = fresh_total_tokens(situation.entry, INDEX_2026_9)
    base = js.maximum(read or 0, fresh or 0)
    if fresh is None and not base > 0:
        return None
    formula = "max(totalTokens, transcript) + lastOutput + prompt"
    judged = effective_tokens(base, output, situation.prompt_estimate)
    return Step("judged", formula, math.floor(judged))


def _judge_estimate_only(
    situation: PreflightSituation, estimate: TranscriptEstimate | None
) -> Step | None:
    """The stored messages and the prompt; without a transcript nothing."""
    if estimate is None or not estimate.prompt_tokens:
        return None
    judged = effective_tokens(estimate.prompt_tokens, None, situation.prompt_estimate)
    return Step("judged", "transcript messages + prompt", judged)


@dataclass(frozen=True, slots=True)
class PreflightRules:
    """A version's way of judging.

    ``total_is_enough``: a fresh total, however large, ends the matter unjudged. ``judge``: the number judged. ``estimate``: how a transcript is estimated, and ``reads_end_only`` whether from its last messages.
    ``raises_to_server_threshold`` and ``reads_size``: which other settings take part.
    ``failure_aborts``: a failed compaction ends the turn. ``index``: which totals count as fresh.
    ``subtracts_soft``: the line is the flush's own; otherwise the soft threshold is left out.
    ``read_buffer``: how far below the line a fresh total with the prompt must be for the transcript to
    stay unread; none where a fresh total is never looked beyond. ``size_needs_truncation``: the size
    trigger needs ``truncateAfterCompaction``. ``usage_ends_at_compaction``: a usage from before the last
    compaction counts for nothing.
    """

    total_is_enough: bool
    judge: Callable[[PreflightSituation, TranscriptEstimate | None], Step | None]
    estimate: Callable[..., TranscriptEstimate]
    reads_end_only: bool
    raises_to_server_threshold: bool
    reads_size: bool
    failure_aborts: bool
    index: IndexRules = INDEX_2026_5_28
    subtracts_soft: bool = True
    read_buffer: int | None = None
    size_needs_truncation: bool = True
    usage_ends_at_compaction: bool = False

    def line(self, situation: PreflightSituation) -> Line:
        """The line the judged number is compared with."""
        minimum = situation.server_threshold if self.raises_to_server_threshold else None
        soft = situation.soft_threshold if self.subtracts_soft else 0
        return flush_line(situation.window, situation.reserve_floor, soft, minimum)


OPENCLAW_2026_4_20: Final = PreflightRules(
    total_is_enough=True,
    judge=_judge_estimate_only,
    estimate=estimate_from_messages,
    reads_end_only=False,
    raises_to_server_threshold=False,
    reads_size=False,
    failure_aborts=False,
)
OPENCLAW_2026_5_28: Final = PreflightRules(
    total_is_enough=False,
    judge=_judge_total_or_estimate,
    estimate=estimate_from_usage,
    reads_end_only=True,
    raises_to_server_threshold=True,
    reads_size=True,
    failure_aborts=True,
)
OPENCLAW_2026_9: Final = replace(
    OPENCLAW_2026_5_28,
    judge=_judge_projection,
    index=INDEX_2026_9,
    subtracts_soft=False,
    read_buffer=READ_BUFFER_TOKENS,
    size_needs_truncation=False,
    reads_end_only=False,
    usage_ends_at_compaction=True,
)


def subtracts_soft(rules: PreflightRules | None) -> bool:
    """Whether preflight, where the version has it, shares its line with the flush."""
    return rules is None or rules.subtracts_soft


@dataclass(frozen=True, slots=True)
class PreflightNeeds:
    """What the decision needs from the transcript file."""

    estimate: bool = False
    size: bool = False


@dataclass(frozen=True, slots=True)
class PreflightDecision:
    """The decision, and the token count that the compaction is told."""

    decision: Decision
    current_tokens: Number | None = None


def transcript_needs(rules: PreflightRules, situation: PreflightSituation) -> PreflightNeeds:
    """What must be read before `decide_preflight`."""
    if situation.skip_reason() is not None:
        return PreflightNeeds()
    fresh = fresh_total_tokens(situation.entry, rules.index)
    near, prompt = False, situation.prompt_estimate
    if fresh is not None and prompt is not None and rules.read_buffer is not None:
        near = fresh + prompt >= rules.line(situation).tokens - rules.read_buffer
    return PreflightNeeds(
        estimate=fresh is None or near,
        size=rules.reads_size and situation.max_active_bytes is not None,
    )


def decide_preflight(
    rules: PreflightRules,
    situation: PreflightSituation,
    estimate: TranscriptEstimate | None,
    byte_size: int | None,
    rule_set: str,
) -> PreflightDecision:
    """Decide with what was read; pass None for what was not, or could not be."""
    reason = situation.skip_reason()
    fresh = fresh_total_tokens(situation.entry, rules.index)
    if reason is None and rules.total_is_enough and fresh is not None:
        reason = "total_is_known"
    if reason is not None:
        return PreflightDecision(_skipped(situation, reason, rule_set, rules.index))
    judged = rules.judge(situation, estimate)
    gate = token_gate(
        situation.entry,
        rules.line(situation),
        rule_set,
        judged.value if judged else None,
        rules.index,
    )
    decision = gate.preflight
    if judged is not None:
        decision = replace(decision, steps=(judged, *decision.steps))
    if not decision.fired and rules.reads_size:
        decision = _by_size(decision, situation.max_active_bytes, byte_size)
    current = judged.value if judged is not None else fresh
    return PreflightDecision(decision, current if js.is_number(current) else None)


def _skipped(
    situation: PreflightSituation, reason: str, rule_set: str, index: IndexRules
) -> Decision:
    """What was never compared with a line: the conditions that had to hold first."""
    known = fresh_total_tokens(situation.entry, index)
    has_session = situation.has_session and situation.entry is not None
    return Decision(
        rule=PREFLIGHT,
        fired=False,
        outcome="skip",
        reason=reason,
        rule_set=rule_set,
        inputs={"contextWindow": situation.window, "totalTokens": known},
        steps=(
            Step("hasSession", "the session is in the index", has_session, ""),
            Step("isHeartbeat", "not a heartbeat", situation.is_heartbeat, ""),
            Step("isCliProvider", "not a command line backend", situation.is_cli_provider, ""),
            Step("isCodexRuntime", "not the Codex runtime", situation.is_codex_runtime, ""),
            Step("freshTotal", "totalTokens, unless marked stale", known),
        ),
    )


def _by_size(decision: Decision, limit: int | None, byte_size: int | None) -> Decision:
    if limit is None or byte_size is None or byte_size < limit:
        return decision
    return replace(
        decision,
        fired=True,
        outcome="compact",
        reason="transcript_size_due",
        inputs={**decision.inputs, "transcriptBytes": byte_size, "maxActiveTranscriptBytes": limit},
        steps=(
            *decision.steps,
            Step("transcriptBytes", f"transcriptBytes >= {limit}", byte_size, "bytes"),
        ),
    )


def max_active_bytes(config: object, rules: PreflightRules = OPENCLAW_2026_5_28) -> int | None:
    """The transcript size that forces a compaction; mostly only where compactions shorten the file."""
    compaction = value_at(config, "agents", "defaults", "compaction")
    shortens = value_at(compaction, "truncateAfterCompaction") is True
    if rules.size_needs_truncation and not shortens:
        return None
    return parse_byte_size(value_at(compaction, "maxActiveTranscriptBytes")) or None
