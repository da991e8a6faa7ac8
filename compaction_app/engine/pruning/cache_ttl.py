"""Which old tool results a model call sees shortened or cleared once the prompt cache has gone cold.

Runs before every model call, on a copy, and nothing is kept: within the ttl the full history goes out
again. Nothing before the first user message and nothing in the protected tail (the last answers) is
touched (spec pruning 12.5 and 12.6, profiles 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from compaction_app.engine.decision import Decision, Scalar
from compaction_app.engine.pruning.cache_ttl_decision import (
    HARD_CLEAR,
    SOFT_TRIM,
    PassFigures,
    idle_decision,
    pass_decision,
)
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings
from compaction_app.engine.pruning.cache_ttl_trim import soft_trimmed, with_one_text
from compaction_app.engine.pruning.change import Change, change
from compaction_app.engine.pruning.duration import (
    DURATION_2026_3,
    DURATION_2026_4_20,
    DURATION_2026_5_28,
    DurationRules,
)
from compaction_app.engine.pruning.thinking import drop_thinking
from compaction_app.engine.pruning.tool_patterns import prunable_tools
from sessions_app.tokens import javascript as js
from sessions_app.tokens import pruner_chars
from sessions_app.tokens.pruner_chars import (
    PrunerCharRules,
    pruner_context_chars,
    pruner_message_chars,
)

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

CHARS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class CacheTtlRules:
    """``estimates_without_thinking``: whether reasoning that will not be sent can be left out of the
    estimate. ``only_basics``: of the settings only mode, ttl, tools and hard clear are read."""

    chars: PrunerCharRules
    durations: DurationRules
    estimates_without_thinking: bool
    only_basics: bool = False


CACHE_TTL_2026_3: Final = CacheTtlRules(
    chars=pruner_chars.OPENCLAW_2026_3,
    durations=DURATION_2026_3,
    estimates_without_thinking=False,
)
CACHE_TTL_2026_4_20: Final = CacheTtlRules(
    chars=pruner_chars.OPENCLAW_2026_4_20,
    durations=DURATION_2026_4_20,
    estimates_without_thinking=True,
)
CACHE_TTL_2026_5_28: Final = CacheTtlRules(
    chars=pruner_chars.OPENCLAW_2026_5_28,
    durations=DURATION_2026_5_28,
    estimates_without_thinking=True,
)
CACHE_TTL_2026_9: Final = CacheTtlRules(
    chars=pruner_chars.OPENCLAW_2026_9,
    durations=DURATION_2026_5_28,
    estimates_without_thinking=True,
    only_basics=True,
)


@dataclass(frozen=True, slots=True)
class PrunedContext:
    """The context to send (the list given when nothing was pruned) and why.

    ``touched_at_ms`` is the cache-touch time afterwards; it moves only when something was pruned.
    """

    messages: Sequence[Any]
    changes: tuple[Change, ...]
    decision: Decision
    touched_at_ms: float | None = None


def assistant_cutoff(messages: Sequence[Any], keep_last: float) -> int | None:
    """Where the protected tail begins: at the N-th last answer; none with fewer answers than that."""
    if keep_last <= 0:
        return len(messages)
    left = keep_last
    for position in range(len(messages) - 1, -1, -1):
        if _role(messages[position]) == "assistant":
            left -= 1
            if left == 0:
                return position
    return None


def prune_call(
    messages: Sequence[Any],
    settings: CacheTtlSettings | None,
    rules: RuleSet,
    *,
    now_ms: float,
    touched_at_ms: float | None,
    window_tokens: object,
    model_window_tokens: object = None,
    drop_thinking_blocks: bool = False,
    eligible: bool = True,
) -> PrunedContext:
    """What one model call sends, given when the cache was last touched; none for never.

    Without settings (mode off) or for a provider that is not ``eligible`` nothing is pruned, nor where
    a message is so malformed that the runtime's pruning fails: the failure is swallowed.
    """
    waiting = why_wait(settings, now_ms, touched_at_ms, eligible)
    inputs: dict[str, Scalar] = {"lastCacheTouchAt": touched_at_ms, "now": now_ms}
    if settings is None or waiting is not None:
        decision = idle_decision(waiting or "off", rules.id, inputs)
        return PrunedContext(messages, (), decision, touched_at_ms)
    try:
        pruned = prune_context(
            messages,
            settings,
            rules,
            window_tokens=window_tokens,
            model_window_tokens=model_window_tokens,
            drop_thinking_blocks=drop_thinking_blocks,
        )
    except TypeError:
        decision = idle_decision("malformed_message", rules.id, inputs)
        return PrunedContext(messages, (), decision, touched_at_ms)
    touched = touched_at_ms if pruned.messages is messages else now_ms
    return PrunedContext(pruned.messages, pruned.changes, pruned.decision, touched)


def why_wait(
    settings: CacheTtlSettings | None,
    now_ms: float,
    touched_at_ms: float | None,
    eligible: bool,
) -> str | None:
    """Why no pruning starts now; none where it does."""
    if settings is None:
        return "off"
    if not eligible:
        return "provider_not_eligible"
    if not touched_at_ms:
        return "cache_never_touched"
    if settings.ttl_ms <= 0:
        return "no_ttl"
    return "ttl_not_elapsed" if now_ms - touched_at_ms < settings.ttl_ms else None


def prune_context(
    messages: Sequence[Any],
    settings: CacheTtlSettings,
    rules: RuleSet,
    *,
    window_tokens: object,
    model_window_tokens: object = None,
    drop_thinking_blocks: bool = False,
) -> PrunedContext:
    """Soft trim and hard clear, whatever the time.

    ``window_tokens`` counts where it is a finite number above 0, else the model's own window.

    Raises:
        TypeError: where the runtime fails too; it then sends the context unpruned.
    """
    own = js.is_finite(window_tokens) and window_tokens > 0
    window = window_tokens if own else model_window_tokens
    if not js.is_number(window) or not window > 0:
        return PrunedContext(messages, (), idle_decision("no_window", rules.id, {}))
    cutoff = assistant_cutoff(messages, settings.keep_last_assistants)
    if cutoff is None:
        inputs: dict[str, Scalar] = {"keepLastAssistants": settings.keep_last_assistants}
        return PrunedContext(messages, (), idle_decision("too_few_answers", rules.id, inputs))
    pruner = rules.pruning.cache_ttl
    estimated = messages
    if drop_thinking_blocks and pruner.estimates_without_thinking:
        estimated = drop_thinking(messages, rules.pruning.thinking).messages
    sizes = [pruner_message_chars(message, pruner.chars) for message in messages]
    total = sum(sizes)
    if estimated is not messages:
        total = pruner_context_chars(estimated, pruner.chars)
    pruning = _Pruning(messages, settings, pruner.chars, window * CHARS_PER_TOKEN, sizes, total)
    reason = pruning.run(cutoff)
    sent = (
        [pruning.new.get(i, message) for i, message in enumerate(messages)]
        if pruning.new
        else messages
    )
    decision = pass_decision(pruning.figures(total, cutoff), settings, reason, rules.id)
    return PrunedContext(sent, tuple(pruning.changes), decision)


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, Mapping) else None


@dataclass(slots=True)
class _Pruning:
    """One pass over one context; the estimates ``sizes`` and ``total`` are kept up to date."""

    messages: Sequence[Any]
    settings: CacheTtlSettings
    chars: PrunerCharRules
    window_chars: float
    sizes: list[int]
    total: int
    new: dict[int, Any] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    prunable_chars: int = 0

    @property
    def ratio(self) -> float:
        return self.total / self.window_chars

    def run(self, cutoff: int) -> str:
        """Trim, then clear; why it went no further."""
        if self.ratio < self.settings.soft_trim_ratio:
            return "below_soft_trim_ratio"
        eligible = self._soft_trim(cutoff)
        if not self.settings.hard_clear.enabled:
            return "hard_clear_off"
        if self.ratio < self.settings.hard_clear_ratio:
            return "below_hard_clear_ratio"
        self.prunable_chars = sum(self.sizes[i] for i in eligible)
        if self.prunable_chars < self.settings.min_prunable_tool_chars:
            return "too_little_to_clear"
        return self._hard_clear(eligible)

    def figures(self, before: int, cutoff: int) -> PassFigures:
        rules = [made.rule for made in self.changes]
        return PassFigures(
            window_chars=self.window_chars,
            chars=before,
            chars_after=self.total,
            prunable_chars=self.prunable_chars,
            protected_from=cutoff,
            trimmed=rules.count(SOFT_TRIM),
            cleared=rules.count(HARD_CLEAR),
        )

    def _soft_trim(self, cutoff: int) -> list[int]:
        is_prunable = prunable_tools(self.settings.tools)
        first_user = next(
            (i for i, message in enumerate(self.messages) if _role(message) == "user"),
            len(self.messages),
        )
        eligible = []
        for position in range(first_user, cutoff):
            message = self.messages[position]
            if _role(message) != "toolResult" or not is_prunable(message.get("toolName")):
                continue
            eligible.append(position)
            trimmed = soft_trimmed(message, self.settings.soft_trim, self.chars)
            if trimmed is not None:
                self._replace(position, message, trimmed, SOFT_TRIM)
        return eligible

    def _hard_clear(self, eligible: Sequence[int]) -> str:
        for position in eligible:
            if self.ratio < self.settings.hard_clear_ratio:
                return "cleared_enough"
            old = self.new.get(position, self.messages[position])
            new = with_one_text(old, self.settings.hard_clear.placeholder)
            self._replace(position, old, new, HARD_CLEAR)
        return "cleared_all"

    def _replace(self, position: int, old: Any, new: Any, rule: str) -> None:
        size = pruner_message_chars(new, self.chars)
        self.total += size - self.sizes[position]
        self.sizes[position] = size
        self.new[position] = new
        self.changes.append(change(position, rule, old, new, "old_tool_result"))
