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
from compaction_app.engine.pruning.change import Change, change
from compaction_app.engine.pruning.projection import (
    Keys,
    Mark,
    Mode,
    ProjectionState,
    Replacement,
    keys_of,
    record,
    shown,
    source_hash,
)
from compaction_app.engine.pruning.recovery import ReductionPlan, plan_reduction
from compaction_app.engine.pruning.tool_patterns import prunable_tools
from sessions_app.tokens.pruner_chars import pruner_message_chars

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

REPLAY: Final = "remembered_form"
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


class _Showing:
    """The messages of one call on their way, and what is remembered of them."""

    def __init__(
        self,
        messages: Sequence[Any],
        state: ProjectionState,
        settings: CacheTtlSettings,
        chars: Any,
    ) -> None:
        self.messages, self.chars, self.settings = messages, chars, settings
        keys: Keys = keys_of(messages, state.ambiguous)
        self.keys, self.ambiguous = keys.by_position, keys.ambiguous
        self.replacements = dict(state.replacements)
        self.frozen, self.hashes = set(state.frozen), dict(state.hashes)
        self.restored = dict(state.restored)
        self.sent: list[Any] = list(messages)
        self.changes: list[Change] = []

    def replay(self) -> None:
        """Every result in the form it is remembered in, as long as it is still the same result."""
        for position, key in self.keys.items():
            original = self.messages[position]
            known = self.hashes.get(key)
            if known is not None and known != source_hash(original):
                self._forget(key)
                continue
            mark = self.restored.pop(key, None)
            if mark is not None:
                self._make_again(key, original, mark)
            held = self.replacements.get(key)
            if held is not None:
                self._show(position, shown(original, held), REPLAY, "shown_before")

    def _forget(self, key: str) -> None:
        self.replacements.pop(key, None)
        self.restored.pop(key, None)
        self.hashes.pop(key, None)
        self.frozen.discard(key)

    def _make_again(self, key: str, original: Any, mark: Mark) -> None:
        if mark.mode == "hard":
            words = mark.placeholder or self.settings.hard_clear.placeholder
            after: Any = with_one_text(original, words)
        else:
            after = soft_trimmed(original, self.settings.soft_trim, self.chars)
        if after is not None:
            self.replacements[key] = record(original, after, mark.mode)
            self.freeze(key, original)

    def _show(self, position: int, message: Any, rule: str, reason: str) -> None:
        if message is not self.sent[position]:
            before = self.messages[position]
            self.changes = [made for made in self.changes if made.position != position]
            self.changes.append(change(position, rule, before, message, reason))
            self.sent[position] = message

    def freeze(self, key: str, original: Any) -> None:
        self.frozen.add(key)
        self.hashes[key] = source_hash(original)

    def put(self, position: int, message: Any, mode: Mode, rule: str, reason: str) -> None:
        """Show a result in a new form, and remember it."""
        key, original = self.keys.get(position), self.messages[position]
        if key is not None:
            self.replacements[key] = record(original, message, mode)
            self.freeze(key, original)
        self._show(position, message, rule, reason)

    def mode(self, position: int) -> str | None:
        held: Replacement | None = self.replacements.get(self.keys.get(position, ""))
        return None if held is None else held.mode

    @property
    def state(self) -> ProjectionState:
        return ProjectionState(
            self.replacements,
            frozenset(self.frozen),
            self.ambiguous,
            self.hashes,
            self.restored,
        )

    @property
    def result(self) -> Sequence[Any]:
        same = all(a is b for a, b in zip(self.sent, self.messages, strict=True))
        return self.messages if same else self.sent


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
    showing = _Showing(messages, state, settings or CacheTtlSettings(), pruner.chars)
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

    def __init__(self, showing: _Showing, settings: CacheTtlSettings, window: float) -> None:
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
    showing = _Showing(
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
