"""Will the memory flush run before history is summarised, did it, and did it save anything?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from compaction_app.engine.diagnose.finding import Finding, whole
from compaction_app.engine.diagnose.history import History
from compaction_app.engine.diagnose.reserve import FLOOR, RESERVE, SOFT, smaller_floor
from compaction_app.engine.diagnose.subject import Subject
from compaction_app.engine.lines import Line
from compaction_app.engine.reasons import sentence
from compaction_app.engine.server_threshold import server_threshold
from compaction_app.engine.silent_reply import is_silent
from sessions_app.tokens.pressure import SAFETY_MARGIN
from sessions_app.transcripts.session_index import compaction_count, was_flushed_in_cycle

ENABLED: Final = "compaction.memoryFlush.enabled"
PRE_PROMPT: Final = "prePromptLine"
OFF_REASONS: Final = (
    "memory_flush_disabled",
    "workspace_not_writable",
    "cli_backend",
    "window_too_small_for_flush",
)


@dataclass(frozen=True, slots=True)
class Trigger:
    """Something that compacts, and where it stands in billed tokens."""

    name: str
    title: str
    tokens: int


def find(subject: Subject, history: History | None) -> Iterator[Finding]:
    """Findings about the memory flush."""
    if history is not None:
        yield from _not_saved(subject, history)
    if not subject.is_known:
        return
    line = subject.lines.named("flush")
    if line.reason in OFF_REASONS:
        yield from _disabled(subject, line)
    if not line.active:
        return
    blocking = [trigger for trigger in triggers(subject) if trigger.tokens <= line.tokens]
    if blocking or line.tokens > subject.lines.window:
        yield _unreachable(subject, line, blocking)
    else:
        shadowed = _shadowed(subject, line) or (
            history and _compacted_by_check(subject, history, line)
        )
        if shadowed:
            yield shadowed
        if history is not None:
            yield from _bypassed(subject, history, line)
    if history is not None:
        yield from _skipped(subject, history, line)


def _disabled(subject: Subject, line: Line) -> Iterator[Finding]:
    fixes: dict[str, dict[str, object]] = {
        "memory_flush_disabled": {ENABLED: True},
        "window_too_small_for_flush": {FLOOR: smaller_floor(subject.lines.window), SOFT: subject.lines.window // 16},
    }  # fmt: skip
    yield Finding(
        "FLUSH_DISABLED",
        f"Nothing is written to memory before a compaction: {sentence(line.reason)}.",
        {
            "flushLine": line.tokens,
            "reason": line.reason,
            "contextWindow": whole(subject.lines.flush_window.tokens or 0),
            "reserveTokensFloor": subject.lines.floor,
            "softThresholdTokens": subject.lines.soft,
        },
        fixes.get(line.reason, {}),
    )


def triggers(subject: Subject) -> Iterator[Trigger]:
    """The active triggers but preflight, which stands at the flush line by design, in billed tokens."""
    around, lines = subject.around, subject.lines
    inner, check = lines.named("inner_threshold"), lines.named("pre_prompt")
    if inner.active:
        yield Trigger("innerThreshold", inner.title, inner.tokens)
    server = server_threshold(
        around.config,
        around.provider,
        around.model,
        around.rules.server_threshold,
        lines.flush_window.tokens,
    )
    if server is not None and around.path != "cli":
        yield Trigger("serverThreshold", "the provider's own threshold", server)
    if check.active:
        conversion = subject.conversion
        system = subject.system_pressure if conversion.measured else 0
        yield Trigger("prePromptLine", check.title, whole(conversion.billed(check.tokens, system)))


def _unreachable(subject: Subject, line: Line, blocking: list[Trigger]) -> Finding:
    window = subject.lines.window
    window_trigger = Trigger("contextWindow", "the end of the window", window)
    billed = [trigger for trigger in blocking if trigger.name != PRE_PROMPT]
    # A line that needs no conversion says more than one that does.
    first = min(billed or blocking or [window_trigger], key=lambda trigger: trigger.tokens)
    conversion = subject.conversion
    how = (
        f"Converted with this session's {conversion.density:.2f} billed tokens per estimated one."
        if conversion.measured
        else "One estimated token counts as one. No session was looked at."
        if subject.grown is None
        else "Too few billed calls to measure; one estimated token counts as one."
    )
    numbers: dict[str, int | float | str] = {
        "flushLine": line.tokens,
        first.name: first.tokens,
        "gap": first.tokens - line.tokens,
        "contextWindow": window,
        "reserveTokens": whole(subject.lines.settings.reserve_tokens),
        "reserveTokensFloor": subject.lines.floor,
        "softThresholdTokens": subject.lines.soft,
    }
    aside = f" {how}" if first.name == PRE_PROMPT or subject.grown is None else ""
    return Finding(
        "FLUSH_UNREACHABLE",
        f"Compaction starts at {max(first.tokens, 0):,} tokens ({first.title}), the memory flush only at "
        f"{line.tokens:,}: history is summarised before anything is saved.{aside}",
        numbers,
        _lower_flush_line(subject, first.tokens),
    )


def _lower_flush_line(subject: Subject, trigger: float) -> dict[str, int | None]:
    """The settings that put the flush line clearly below a trigger."""
    lines, policy, run = subject.lines, subject.policy, subject.lines.window
    window = whole(lines.flush_window.tokens or 0)
    fix: dict[str, int | None] = {}
    if window > run and policy.context_tokens and policy.context_window:
        window, fix = run, {"contextTokens": None}
    if window - lines.floor - lines.soft < trigger:
        return fix
    wanted = whole(trigger - max(trigger / 10, 4_000 if trigger > 40_000 else 500))
    if wanted > 0:
        return fix | {SOFT: window - lines.floor - wanted}
    floor = smaller_floor(run)
    return fix | {RESERVE: run // 4, FLOOR: floor, SOFT: max(lines.soft, run // 16)}


def _shadowed(subject: Subject, line: Line) -> Finding | None:
    """The check multiplies its estimate by 1.2: with usage near it, it comes before the flush."""
    conversion, check = subject.conversion, subject.lines.named("pre_prompt")
    if not (conversion.measured and check.active):
        return None
    fires_at = conversion.billed(check.tokens / SAFETY_MARGIN, subject.system_pressure)
    if fires_at >= line.tokens:
        return None
    return Finding(
        "FLUSH_SHADOWED_BY_PRECHECK",
        f"The pre-prompt check multiplies its estimate by {SAFETY_MARGIN} and so compacts at about "
        f"{fires_at:,.0f} billed tokens of this session; the flush line at {line.tokens:,} is never "
        "reached.",
        {
            "flushLine": line.tokens,
            "prePromptLine": check.tokens,
            "firesAtBilledTokens": whole(fires_at),
            "gap": whole(fires_at - line.tokens),
            "billedPerEstimatedToken": round(conversion.density, 3),
            "billedCalls": len(subject.billed),
            "softThresholdTokens": subject.lines.soft,
        },
        _lower_flush_line(subject, fires_at),
    )


def _compacted_by_check(subject: Subject, history: History, line: Line) -> Finding | None:
    """A recorded compaction that only the check can have made: the total was below every other line, and
    no flush ran. The bills of a whole session are no straight line, so the conversion may miss it."""
    conversion, check = subject.conversion, subject.lines.named("pre_prompt")
    if not (conversion.measured and check.active):
        return None
    inner = subject.lines.named("inner_threshold")
    for cycle, done in zip(history.cycles, history.compactions, strict=False):
        calls = subject.billed_between(cycle.first_call, cycle.end_call)
        if cycle.flushes or cycle.is_manual or not calls:
            continue
        stored, total = (int(of[calls[-1]]) for of in (history.grown.billed_prompt, history.grown.billed_total))  # fmt: skip
        prompt, prompt_pressure = history.prompt_behind(done.place)
        if total + prompt >= line.tokens or (inner.active and total > inner.tokens):
            continue
        pressure = history.pressure(done.start, done.place) + prompt_pressure
        estimate = whole((pressure + subject.system_pressure) * SAFETY_MARGIN)
        if estimate <= check.tokens:
            continue
        return Finding(
            "FLUSH_SHADOWED_BY_PRECHECK",
            f"The pre-prompt check estimated {estimate:,} tokens, {SAFETY_MARGIN} times what it counted, and "
            f"so compacted at {check.tokens:,} when {stored:,} were billed: the flush line at "
            f"{line.tokens:,} was not reached.",
            {
                "flushLine": line.tokens,
                "prePromptLine": check.tokens,
                "firesAtBilledTokens": stored,
                "gap": stored - line.tokens,
                "estimatedTokens": estimate,
                "billedCalls": len(subject.billed),
                "softThresholdTokens": subject.lines.soft,
            },
            _lower_flush_line(subject, stored),
            done.line,
        )
    return None


def _bypassed(subject: Subject, history: History, line: Line) -> Iterator[Finding]:
    """A cycle without a flush in which the total went from below the line past a trigger at once."""
    for cycle in history.cycles:
        if cycle.flushes or cycle.is_manual:
            continue
        found = _jump(subject, history, cycle.first_call, cycle.end_call, line, cycle.compacted)
        if found is not None:
            yield found
            return


def _jump(
    subject: Subject, history: History, first: int, end: int, line: Line, compacted: bool
) -> Finding | None:
    """The turn that passed the flush line and a trigger at once, if there is one.

    The flush is judged when a turn begins, on the prompt of the last call before; the inner threshold
    when it ends, on that call's total; preflight when the next one begins.
    """
    grown, inner = history.grown, subject.lines.named("inner_threshold")
    preflight = subject.lines.named("preflight")
    calls = subject.billed_between(first, end)
    before = int(grown.billed_prompt[calls[0]]) if calls else 0
    for last in (stops := history.turn_ends(first, end)):
        stored, total = int(grown.billed_prompt[last]), int(grown.billed_total[last])
        by_inner = inner.active and total > inner.tokens
        by_preflight = (
            compacted and preflight.active and last == stops[-1] and stored >= line.tokens
        )
        if by_inner or by_preflight:
            trigger = inner if by_inner else preflight
            gap = trigger.tokens - line.tokens
            jump = stored - before if stored - before > gap else total - before
            if before >= line.tokens or jump <= gap:
                return None
            return Finding(
                "FLUSH_BYPASSED_BY_JUMP",
                f"One turn took the total from {before:,} to {total:,} tokens, past the flush line at "
                f"{line.tokens:,} and the {trigger.title} at {trigger.tokens:,}: the compaction comes "
                "without a flush.",
                {
                    "jump": jump,
                    "gap": gap,
                    "before": before,
                    "after": total,
                    "flushLine": line.tokens,
                    "trigger": trigger.tokens,
                    "softThresholdTokens": subject.lines.soft,
                },
                {SOFT: subject.lines.soft + jump},
                history.line_at(int(grown.place[last])),
            )
        before = stored
    return None


def _skipped(subject: Subject, history: History, line: Line) -> Iterator[Finding]:
    entry, total = subject.entry, subject.rest_total
    if entry is None or total is None or total < line.tokens or not was_flushed_in_cycle(entry):
        return
    count = int(compaction_count(entry))
    compactions = history.compactions
    start = 0
    if compactions and count:
        start = compactions[min(count, len(compactions)) - 1].place
    if any(place >= start for place in history.flush_places):
        return
    yield Finding(
        "FLUSH_SKIPPED_ALREADY_FLUSHED",
        f"The total of {total:,} tokens is above the flush line at {line.tokens:,}, but the index says "
        "that this cycle was flushed, and the transcript holds no such flush: none will run.",
        {
            "totalTokens": total,
            "flushLine": line.tokens,
            "compactionCount": count,
            "memoryFlushCompactionCount": count,
        },
    )


def _not_saved(subject: Subject, history: History) -> Iterator[Finding]:
    rules = subject.around.rules.silent_reply
    for flush in history.flushes:
        spoke = bool(flush.answer.strip()) and not is_silent(flush.answer, rules)
        failed = bool(flush.writes) and not flush.wrote
        if not flush.answered or not (spoke or failed):
            continue
        what = (
            "its write failed"
            if failed
            else "its answer went to the user instead of NO_REPLY"
            if flush.wrote
            else "it answered with prose and wrote nothing"
        )
        yield Finding(
            "FLUSH_NOT_SAVED",
            f"A memory flush ran, but {what}.",
            {"answer": flush.answer[:80], "writes": len(flush.writes)},
            line=flush.line,
        )
