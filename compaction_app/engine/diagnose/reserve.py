"""Do reserve, floor, soft threshold and kept tail leave room, and does each of them act?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from compaction_app.engine.diagnose.finding import Finding, whole
from compaction_app.engine.diagnose.subject import Subject
from compaction_app.engine.flush import flush_line
from compaction_app.engine.flush_plan import DEFAULT_SOFT_THRESHOLD
from compaction_app.engine.lines import Line

RESERVE: Final = "compaction.reserveTokens"
FLOOR: Final = "compaction.reserveTokensFloor"
SOFT: Final = "compaction.memoryFlush.softThresholdTokens"
KEEP: Final = "compaction.keepRecentTokens"
LEAST_KEEP: Final = 500
DEFAULT_FLOOR: Final = 20_000


def find(subject: Subject) -> Iterator[Finding]:
    """Findings about the settings; none when nobody knows them."""
    if not subject.is_known:
        return
    yield from _room(subject)
    yield from _soft_threshold(subject)
    yield from _kept_tail(subject)
    yield from _ignored(subject)


def _room(subject: Subject) -> Iterator[Finding]:
    lines, window = subject.lines, subject.lines.window
    reserve = lines.settings.reserve_tokens
    if window and reserve >= window:
        yield Finding(
            "COMPACTS_FROM_FIRST_TOKEN",
            f"The reserve of {reserve:,.0f} tokens takes the whole window of {window:,}: there is "
            "something to compact from the first token on.",
            {
                "reserveTokens": whole(reserve),
                "reserveTokensFloor": lines.floor,
                "contextWindow": window,
            },
            _smaller_reserve(subject),
        )
        return
    left = _prompt_room(subject)
    if left is not None and left < window / 2:
        yield Finding(
            "RESERVE_SHRINKS_PROMPT",
            f"Of the window of {window:,} tokens only {max(left, 0):,} are left for the prompt; the rest is "
            "reserved.",
            {
                "promptTokens": left,
                "reservedTokens": window - left,
                "reserveTokensFloor": lines.floor,
                "contextWindow": window,
            },
            _smaller_reserve(subject),
        )


def _prompt_room(subject: Subject) -> int | None:
    """The least that an active line of a run leaves to the prompt."""
    room = [
        line.tokens
        for name in ("pre_prompt", "inner_threshold")
        if (line := subject.lines.named(name)).active
    ]
    return min(room) if room else None


def _smaller_reserve(subject: Subject) -> dict[str, int | str]:
    """A quarter of the window; in safeguard mode the check would not read it."""
    window = subject.lines.window
    fix: dict[str, int | str] = {RESERVE: window // 4, FLOOR: smaller_floor(window)}
    if subject.lines.named("inner_threshold").reason == "safeguard_mode":
        fix["compaction.mode"] = "default"
    return fix


def smaller_floor(window: int) -> int:
    """The floor that every finding proposes for a window in which the present one leaves too little."""
    return min(window // 4, DEFAULT_FLOOR)


def _soft_threshold(subject: Subject) -> Iterator[Finding]:
    lines = subject.lines
    window = whole(lines.flush_window.tokens or 0)
    line, soft = lines.named("flush"), lines.soft
    by_default = flush_line(window, lines.floor, DEFAULT_SOFT_THRESHOLD).tokens
    is_cause = soft > DEFAULT_SOFT_THRESHOLD and by_default >= window / 2
    acts = line.reason != "memory_flush_disabled" or lines.named("preflight").active
    if not (is_cause and line.tokens < window / 2 and acts):
        return
    yield Finding(
        "SOFT_IS_DISTANCE",
        f"softThresholdTokens is a distance before the line, not a size: with {soft:,} the flush line "
        f"stands at {line.tokens:,} tokens ({line.tokens / window:.0%} of the window), and a larger "
        "value fires earlier still.",
        {
            "flushLine": line.tokens,
            "softThresholdTokens": soft,
            "reserveTokensFloor": lines.floor,
            "contextWindow": window,
            "lineIfItWereASize": soft,
            "lineAtDefault": whole(by_default),
        },
        {SOFT: DEFAULT_SOFT_THRESHOLD},
    )


def compaction_lines(subject: Subject) -> list[Line]:
    """The active lines at which something compacts."""
    names = ("preflight", "pre_prompt", "inner_threshold")
    found = [line for line in subject.lines.lines if line.name in names]
    return [line for line in found if line.active and line.tokens > 0]


def smaller_keep(subject: Subject) -> dict[str, int]:
    """A kept tail of a quarter of the lowest line that compacts; empty where that is no help."""
    if not subject.is_known:
        return {}
    lines = compaction_lines(subject)
    least = min((line.tokens for line in lines), default=subject.lines.window)
    wanted = max(least // 4, LEAST_KEEP)
    return {KEEP: wanted} if wanted < subject.lines.settings.keep_recent_tokens else {}


def _kept_tail(subject: Subject) -> Iterator[Finding]:
    lines = compaction_lines(subject)
    if not lines:
        return
    keep = whole(subject.lines.settings.keep_recent_tokens)
    measured = subject.calibration
    density = measured.density if measured.enough else 1.0
    judged = [
        (line, keep if line.name == "pre_prompt" else whole(keep * density)) for line in lines
    ]
    line, kept = min(judged, key=lambda pair: pair[0].tokens - pair[1])
    if kept < line.tokens:
        return
    numbers: dict[str, int | float | str] = {
        "keepRecentTokens": keep,
        "line": line.tokens,
        "lineName": line.title,
    }
    if kept != keep:
        numbers["keptBilledTokens"] = kept
    wanted = max(line.tokens // 4, LEAST_KEEP)
    yield Finding(
        "KEEP_GE_THRESHOLD",
        f"The recent messages that a compaction keeps ({keep:,} tokens) reach the {line.title} at "
        f"{line.tokens:,} by themselves: the kept tail triggers the next compaction.",
        numbers,
        {KEEP: wanted} if wanted < line.tokens else {},
    )


def _ignored(subject: Subject) -> Iterator[Finding]:
    """Settings that the effective mode does not read."""
    inner = subject.lines.named("inner_threshold")
    reserve, settled = subject.lines.check_budget.reserve, subject.lines.settings.reserve_tokens
    if inner.active or subject.around.path == "cli":
        return
    set_here = subject.explicit & {RESERVE, FLOOR}
    by_safeguard = inner.reason == "safeguard_mode"
    fix = {"compaction.mode": "default"} if by_safeguard else {}
    if (
        by_safeguard
        and set_here
        and reserve != settled
        and subject.lines.named("pre_prompt").active
    ):
        yield Finding(
            "RESERVE_IGNORED",
            f"In safeguard mode the pre-prompt check of a run reserves {reserve:,.0f} tokens whatever "
            f"is configured; the {settled:,.0f} that the settings come to are not used.",
            {
                "configuredReserve": whole(settled),
                "usedReserve": whole(reserve),
                **{key: getattr(subject.policy, _NAMES[key]) for key in sorted(set_here)},
            },
            fix,
        )
    if RESERVE in set_here:
        reasons = {
            "safeguard_mode": "safeguard mode switches the inner threshold off",
            "context_engine_owns_compaction": "the context engine compacts by itself",
            "silent_overflow_model": "the model cuts long prompts silently",
        }
        yield Finding(
            "TRIGGER_INACTIVE",
            f"reserveTokens draws the inner threshold at {inner.tokens:,} tokens, but it never acts: "
            f"{reasons.get(inner.reason, inner.reason)}.",
            {
                RESERVE: subject.policy.reserve_tokens,
                "innerThreshold": inner.tokens,
                "mode": subject.lines.mode,
            },
            fix,
        )


_NAMES: Final = {RESERVE: "reserve_tokens", FLOOR: "reserve_tokens_floor"}
