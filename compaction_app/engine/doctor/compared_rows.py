"""What is compared between rule sets, and why the versions differ: one row for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from compaction_app.engine import purpose_window
from compaction_app.engine.budget import RESERVE_TOKENS_FLOOR
from compaction_app.engine.diagnose import Subject
from compaction_app.engine.diagnose.results import result_cap
from compaction_app.engine.doctor.states import pruning_status
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.turn.setup import configured_keep
from compaction_app.engine.window import WindowResolution


@dataclass(frozen=True, slots=True)
class Side:
    """Everything under one rule set."""

    rules: RuleSet
    subject: Subject
    problems: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.rules.id.removeprefix("openclaw-")


_WAYS: Final[Mapping[object, str]] = {
    purpose_window.flush_window: "contextTokens overrides whatever the chain says",
    purpose_window.cached_window: "contextTokens stands in only where no window of the model is known",
    purpose_window.reply_window: "contextTokens caps what the chain says",
    purpose_window.reply_window_overridden: "contextTokens overrides whatever the chain says",
    purpose_window.reply_window_cached: "contextTokens come first, the model's known window second",
    purpose_window.owned_window: "contextTokens of the defaults is not asked",
}

Show = Callable[[Side], str]
Explain = Callable[[Sequence[Side]], str]


def _window(found: WindowResolution) -> str:
    return f"{found.tokens or 0:,} ({found.source})"


def _accepted(side: Side) -> str:
    return "yes" if not side.problems else f"no: {len(side.problems)} problem(s)"


def _why_refused(sides: Sequence[Side]) -> str:
    return "; ".join(f"{s.name}: {s.problems[0]}" for s in sides if s.problems)


def _by(sides: Sequence[Side], flag: Callable[[Side], bool], yes: str, no: str) -> str:
    """A sentence for the versions that have something, and one for those that have not."""
    having = ", ".join(side.name for side in sides if flag(side))
    lacking = ", ".join(side.name for side in sides if not flag(side))
    return "; ".join(f"{names}: {what}" for names, what in ((having, yes), (lacking, no)) if names)


def _why_flush_window(sides: Sequence[Side]) -> str:
    return _how_asked(sides, [side.rules.purpose_window.flush for side in sides])


def _why_reply_window(sides: Sequence[Side]) -> str:
    return _how_asked(sides, [side.rules.purpose_window.reply for side in sides])


def _how_asked(sides: Sequence[Side], asked: Sequence[object]) -> str:
    """How each version hands in contextTokens, and what its chain reads."""
    ways = [_WAYS.get(way, "") for way in asked]
    parts = [f"{side.name}: {way}" for side, way in zip(sides, ways, strict=True) if way]
    chain = _by(
        sides,
        lambda side: bool(side.rules.window_chain.provider_fields),
        "the provider's own contextWindow counts, and Claude models of a million tokens need no opt-in",
        "only listed models count, and a million tokens need params.context1m",
    )
    return "; ".join(parts if len(set(ways)) > 1 else [chain])


def _why_run(sides: Sequence[Side]) -> str:
    return _by(
        sides,
        lambda side: "contextTokens" in side.rules.run_window.fields,
        "a listed model's contextTokens come before its contextWindow",
        "only a listed model's contextWindow counts, and the provider's key must be the very same",
    )


def _why_reserve(sides: Sequence[Side]) -> str:
    set_by_user = [side for side in sides if side.rules.budget.configurable]
    parts = [
        _by(
            set_by_user,
            lambda side: side.rules.budget.protects_small_windows,
            "in a small window the floor is lowered, so that half of it (at most 8,000 tokens) stays "
            "for the prompt",
            "the floor holds in the smallest window",
        ),
        *(
            f"{side.name}: no setting is read, {RESERVE_TOKENS_FLOOR:,} tokens and at most a quarter of the window"
            for side in sides
            if not side.rules.budget.configurable
        ),
    ]
    return "; ".join(filter(None, parts))


def _why_keep(sides: Sequence[Side]) -> str:
    return _by(
        sides,
        lambda side: side.rules.turn.weighs_keep,
        "where nobody set it, it counts tokens as the provider does",
        "it counts estimated tokens",
    )


def _flush_moment(side: Side) -> str:
    order = side.rules.turn.orders["chat"]
    return "after the reply" if "flush" in order.replied else "before the turn"


def _why_flush_moment(sides: Sequence[Side]) -> str:
    return _by(
        sides,
        lambda side: _flush_moment(side) == "after the reply",
        "the stored total alone is judged, and before a turn only where a preflight compaction is due",
        "total, last answer and prompt are judged, so the turn that would cross the line waits for it",
    )


def _check(side: Side) -> str:
    routing = side.rules.routing
    if routing is None:
        return "none"
    return "blocks" if routing.blocks else "reports"


def _why_check(sides: Sequence[Side]) -> str:
    words = {"none": "no check", "blocks": "compacts or cuts", "reports": "every prompt is sent"}
    return "; ".join(f"{side.name}: {words[_check(side)]}" for side in sides)


def _failed_summary(side: Side) -> str:
    return "fails" if side.rules.compaction.safeguard.refuses_failed else "is kept"


def _why_failed_summary(sides: Sequence[Side]) -> str:
    return _by(
        sides,
        lambda side: side.rules.compaction.safeguard.refuses_failed,
        "the compaction fails as guard_blocked, and the turn with it",
        "the last summary is stored, however bad",
    )


def _forms(side: Side) -> str:
    order = side.rules.turn.orders["chat"]
    return "remembered" if "remembered_results" in order.call else "cut anew"


def _why_forms(sides: Sequence[Side]) -> str:
    return _by(
        sides,
        lambda side: _forms(side) == "remembered",
        "what a call has shown stays so, which spares the provider's cache",
        "each call cuts from the whole results",
    )


def _why_guard(sides: Sequence[Side]) -> str:
    return "; ".join(
        f"{side.name}: warns below {side.subject.lines.guard.thresholds.warn:,}, blocks below "
        f"{side.subject.lines.guard.thresholds.hard:,} tokens"
        for side in sides
    )


def _why_mode(_: Sequence[Side]) -> str:
    return "a mode that a version does not know is read as another one"


def _why_cap(_: Sequence[Side]) -> str:
    return "the share of the window that one tool result may take differs by version"


def _why_pruning(sides: Sequence[Side]) -> str:
    return "; ".join(
        f"{side.name}: {status.words}"
        for side in sides
        if not (status := pruning_status(side.subject.policy, side.subject.around)).is_active
    )


def _kept(side: Side) -> str:
    tokens = f"{side.subject.lines.settings.keep_recent_tokens:,}"
    is_set = configured_keep(side.subject.policy, side.subject.around) is not None
    return f"{tokens} billed" if side.rules.turn.weighs_keep and not is_set else tokens


ROWS: Final[tuple[tuple[str, Show, Explain], ...]] = (
    ("file accepted", _accepted, _why_refused),
    (
        "window of flush and preflight",
        lambda s: _window(s.subject.lines.flush_window),
        _why_flush_window,
    ),
    ("window of runs", lambda s: _window(s.subject.lines.run_window), _why_run),
    (
        "window of replies and status",
        lambda s: _window(s.subject.lines.reply_window),
        _why_reply_window,
    ),
    ("window guard", lambda s: s.subject.lines.guard.decision.outcome, _why_guard),
    ("compaction mode", lambda s: s.subject.lines.mode, _why_mode),
    ("reserve, tokens", lambda s: f"{s.subject.lines.settings.reserve_tokens:,}", _why_reserve),
    (
        "kept tail, tokens",
        _kept,
        _why_keep,
    ),
    ("memory flush runs", _flush_moment, _why_flush_moment),
    ("pre-prompt check", _check, _why_check),
    ("a summary that fails its check twice", _failed_summary, _why_failed_summary),
    ("old tool results in a call", _forms, _why_forms),
    ("cap of one tool result, characters", lambda s: f"{result_cap(s.subject):,}", _why_cap),
    (
        "pruning of old tool results",
        lambda s: "on" if pruning_status(s.subject.policy, s.subject.around).is_active else "off",
        _why_pruning,
    ),
)
