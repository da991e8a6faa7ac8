"""One model call under remembered forms: show them, prune a round, cut what is left (spec profiles 5.6).

The replay comes first and always. A new round of cache-TTL pruning starts from the originals of what
is not yet as short as it gets. The plain cut of a prompt's history never touches, for its aggregate
budget, a result that the model has already seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from compaction_app.engine.decision import Decision, Scalar
from compaction_app.engine.pruning.cache_ttl import (
    CHARS_PER_TOKEN,
    assistant_cutoff,
    why_wait,
)
from compaction_app.engine.pruning.cache_ttl_decision import (
    HARD_CLEAR,
    SOFT_TRIM,
    PassFigures,
    idle_decision,
    pass_decision,
)
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings
from compaction_app.engine.pruning.cache_ttl_trim import soft_trimmed, with_one_text
from compaction_app.engine.pruning.change import Change
from compaction_app.engine.pruning.projection import (
    Mode,
    ProjectionState,
    keys_of,
    source_hash,
)
from compaction_app.engine.pruning.recovery import ReductionPlan, plan_reduction
from compaction_app.engine.pruning.showing import Showing
from compaction_app.engine.pruning.tool_patterns import prunable_tools
from sessions_app.tokens.pruner_chars import pruner_message_chars

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

SERVER_CLEARS: Final = "server_clears"
LATER_CALL: Final = "not_the_first_call"


@dataclass(frozen=True, slots=True)
class Projected:
    """The list to send (the very one given when nothing differs) and the state afterwards.

    ``changes`` are those from the stored messages to what is sent; ``pruned`` whether a new round
    changed something; ``plan`` that of the plain cut.
    """

    messages: Sequence[Any]
    state: ProjectionState
    changes: tuple[Change, ...] = ()
    decision: Decision | None = None
    pruned: bool = False
    plan: ReductionPlan | None = None
    touched_at_ms: float | None = None


def project_pruning(
    messages: Sequence[Any],
    state: ProjectionState,
    settings: CacheTtlSettings | None,
    rules: RuleSet,
    *,
    now_ms: float,
    touched_at_ms: float | None,
    window_tokens: float,
    new_rounds: bool = True,
    eligible: bool = True,
    why_none: str = SERVER_CLEARS,
) -> Projected:
    """Show what is remembered, then prune a new round where the cache has gone cold.

    ``new_rounds`` is false where the provider's server clears results itself, or for another reason,
    ``why_none``.
    """
    pruner = rules.pruning.cache_ttl
    showing = Showing(messages, state, settings or CacheTtlSettings(), pruner.chars)
    showing.replay()
    waiting = why_wait(settings, now_ms, touched_at_ms, eligible)
    if waiting is None and not new_rounds:
        waiting = why_none
    inputs: dict[str, Scalar] = {"lastCacheTouchAt": touched_at_ms, "now": now_ms}
    decision, pruned = idle_decision(waiting or "off", rules.id, inputs), False
    if settings is not None and waiting is None:
        decision = _Round(showing, settings, window_tokens).run(rules.id)
        pruned = decision.fired
    return Projected(
        messages=showing.result,
        state=showing.state,
        changes=tuple(showing.changes),
        decision=decision,
        pruned=pruned,
        touched_at_ms=now_ms if pruned else touched_at_ms,
    )


class _Round:
    """One round of soft trims and hard clears over what is shown."""

    def __init__(self, showing: Showing, settings: CacheTtlSettings, window: float) -> None:
        self.showing, self.settings = showing, settings
        self.window_chars = window * CHARS_PER_TOKEN
        self.sizes = [pruner_message_chars(message, showing.chars) for message in showing.sent]
        self.total = sum(self.sizes)
        self.trimmed = self.cleared = self.prunable_chars = 0

    @property
    def ratio(self) -> float:
        return self.total / self.window_chars

    def run(self, rule_set: str) -> Decision:
        messages = self.showing.sent
        cutoff = assistant_cutoff(messages, self.settings.keep_last_assistants)
        if cutoff is None or not self.window_chars > 0:
            reason = "too_few_answers" if cutoff is None else "no_window"
            return idle_decision(reason, rule_set, {})
        before = self.total
        reason = self._go(cutoff)
        figures = PassFigures(
            window_chars=self.window_chars,
            chars=before,
            chars_after=self.total,
            prunable_chars=self.prunable_chars,
            protected_from=cutoff,
            trimmed=self.trimmed,
            cleared=self.cleared,
        )
        return pass_decision(figures, self.settings, reason, rule_set)

    def _go(self, cutoff: int) -> str:
        if self.ratio < self.settings.soft_trim_ratio:
            return "below_soft_trim_ratio"
        eligible = self._eligible(cutoff)
        for position in eligible:
            if self.showing.mode(position) != "soft":
                original = self.showing.messages[position]
                after = soft_trimmed(original, self.settings.soft_trim, self.showing.chars)
                if after is not None:
                    self._put(position, after, "soft", SOFT_TRIM)
                    self.trimmed += 1
        if not self.settings.hard_clear.enabled:
            return "hard_clear_off"
        if self.ratio < self.settings.hard_clear_ratio:
            return "below_hard_clear_ratio"
        self.prunable_chars = sum(self.sizes[i] for i in eligible)
        if self.prunable_chars < self.settings.min_prunable_tool_chars:
            return "too_little_to_clear"
        for position in eligible:
            if self.ratio < self.settings.hard_clear_ratio:
                return "cleared_enough"
            original = self.showing.messages[position]
            words = self.settings.hard_clear.placeholder
            self._put(position, with_one_text(original, words), "hard", HARD_CLEAR)
            self.cleared += 1
        return "cleared_all"

    def _eligible(self, cutoff: int) -> list[int]:
        """Results between the first prompt and the last answers that can get shorter still."""
        is_prunable = prunable_tools(self.settings.tools)
        messages = self.showing.messages
        first = next(
            (i for i, message in enumerate(messages) if _role(message) == "user"), len(messages)
        )
        return [
            i
            for i in range(first, cutoff)
            if _role(messages[i]) == "toolResult"
            and is_prunable(messages[i].get("toolName"))
            and self.showing.mode(i) != "hard"
        ]

    def _put(self, position: int, message: Any, mode: Mode, rule: str) -> None:
        self.showing.put(position, message, mode, rule, "old_tool_result")
        size = pruner_message_chars(message, self.showing.chars)
        self.total += size - self.sizes[position]
        self.sizes[position] = size


def project_prompt(
    messages: Sequence[Any],
    state: ProjectionState,
    rules: RuleSet,
    *,
    window_tokens: float,
    single_cap_chars: float | None = None,
    settings: CacheTtlSettings | None = None,
) -> Projected:
    """The copy of a history that a call sends: remembered forms, then the caps on what is new."""
    showing = Showing(
        messages, state, settings or CacheTtlSettings(), rules.pruning.cache_ttl.chars
    )
    showing.replay()
    answers = (i for i, message in enumerate(messages) if _role(message) == "assistant")
    last = max(answers, default=-1)
    plan = plan_reduction(
        showing.sent,
        window_tokens,
        rules.pruning.recovery,
        single_cap_chars=single_cap_chars,
        settled={i for i, key in showing.keys.items() if key in showing.frozen},
        trailing={i for i in showing.keys if i > last},
    )
    reasons = {made.position: (made.rule, made.reason) for made in plan.changes}
    for position, message in plan.replacements.items():
        showing.put(position, message, "none", *reasons[position])
    for position, key in showing.keys.items():
        showing.freeze(key, messages[position])
    return Projected(showing.result, showing.state, tuple(showing.changes), plan=plan)


def without_lost(state: ProjectionState, messages: Sequence[Any]) -> ProjectionState:
    """The state after a compaction: only what is still there, and still the same, is remembered."""
    keys = keys_of(messages, state.ambiguous)
    kept = {
        key
        for position, key in keys.by_position.items()
        if state.hashes.get(key) in (None, source_hash(messages[position]))
    }
    bases = {key for key in state.ambiguous if any(key in held for held in kept)}
    return replace(
        state,
        replacements=_only(state.replacements, kept),
        frozen=state.frozen & kept,
        ambiguous=frozenset(bases),
        hashes=_only(state.hashes, kept),
        restored=_only(state.restored, kept),
    )


def _only(held: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in held.items() if key in keys}


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, Mapping) else None
