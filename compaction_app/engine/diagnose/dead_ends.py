"""Is the session stuck? Turns that ended in the overflow reply, and compactions that can drop nothing."""

from __future__ import annotations

from collections.abc import Iterator

from compaction_app.engine.calibration import weigh
from compaction_app.engine.diagnose.finding import Finding, whole
from compaction_app.engine.diagnose.history import History
from compaction_app.engine.diagnose.overflow_reply import is_overflow_reply
from compaction_app.engine.diagnose.reserve import smaller_keep
from compaction_app.engine.diagnose.subject import Subject
from compaction_app.engine.replay_rows import ReplayRows
from sessions_app.tokens.pressure import SAFETY_MARGIN


def find(subject: Subject, history: History) -> Iterator[Finding]:
    """Findings about dead ends."""
    yield from _stuck(subject, history)
    if subject.is_known:
        yield from _nothing_to_drop(subject, history)


def _stuck(subject: Subject, history: History) -> Iterator[Finding]:
    """Turns in a row that ended in the overflow reply."""
    turns: dict[int, int] = {}
    for reply in history.signs.replies:
        place = history.place_of(reply.seq)
        if place is not None and is_overflow_reply(reply.text):
            turns.setdefault(history.turn_at(place), reply.line)
    longest: list[int] = []
    row: list[int] = []
    for turn in sorted(turns):
        row = [*row, turn] if row and turn == row[-1] + 1 else [turn]
        longest = row if len(row) > len(longest) else longest
    if len(longest) < 2:
        return
    ended = longest[-1] >= history.grown.turns
    yield Finding(
        "STUCK_OVERFLOW",
        f"{len(longest)} turns in a row ended in the overflow reply, from turn {longest[0]} to turn "
        f"{longest[-1]}{': the session is stuck' if ended else ''}.",
        {
            "turns": len(longest),
            "firstTurn": longest[0],
            "lastTurn": longest[-1],
            "contextWindow": subject.lines.window,
            "keepRecentTokens": whole(subject.lines.settings.keep_recent_tokens),
        },
        smaller_keep(subject),
        turns[longest[0]],
    )


def _nothing_to_drop(subject: Subject, history: History) -> Iterator[Finding]:
    """A compaction that is due, or was, although nothing can be dropped."""
    keep = subject.lines.settings.keep_recent_tokens
    blind = [c for c in history.compactions if not c.is_manual and c.dropped == 0 and c.estimate]
    below = next((c for c in blind if c.estimate < keep), None)
    uncut = next((c for c in blind if c.estimate >= keep), None)
    due_size, due_cut = _due(subject, history)
    size = (
        below.estimate if below else due_size if due_size is not None and due_size < keep else None
    )
    if size is not None:
        yield Finding(
            "SESSION_BELOW_KEEP",
            f"Compaction is due while the whole session has {size:,} tokens, fewer than the {keep:,.0f} "
            "that are kept: nothing can be dropped, and it will repeat.",
            {"sessionTokens": size, "keepRecentTokens": whole(keep)},
            smaller_keep(subject),
            below.line if below else None,
        )
    elif uncut is not None or (due_cut is False and due_size is not None):
        tokens = uncut.estimate if uncut else due_size or 0
        yield Finding(
            "NO_LEGAL_CUT",
            f"A compaction of {tokens:,} tokens can summarise nothing: no cut may fall between the "
            "newest call and its results, and before it there is nothing.",
            {"contextTokens": tokens, "keepRecentTokens": whole(keep)},
            {
                "contextLimits.toolResultMaxChars": min(
                    max(subject.lines.window // 4, 1_000), 250_000
                )
            },
            uncut.line if uncut else None,
        )


def _due(subject: Subject, history: History) -> tuple[int | None, bool | None]:
    """At rest: the estimate of a context whose compaction is due, and whether a cut drops anything."""
    grown, end = history.grown, len(history.grown.branch)
    if not grown.calls or not _is_due(subject):
        return None, None
    start = int(grown.compactions.kept[-1]) if len(grown.compactions.place) else 0
    rows = ReplayRows(grown, weigh(grown))
    cut = rows.cut(start, end, subject.lines.settings.keep_recent_tokens)
    return rows.estimate(start, end), rows.estimate(start, cut) > 0


def _is_due(subject: Subject) -> bool:
    assert subject.grown is not None
    check, inner = subject.lines.named("pre_prompt"), subject.lines.named("inner_threshold")
    billed_total = int(subject.grown.billed_total[-1])
    estimate = (int(subject.pressure[-1]) + subject.system_pressure) * SAFETY_MARGIN
    return (
        subject.is_at_rest_above("preflight")
        or (inner.active and billed_total > inner.tokens)
        or (check.active and estimate > check.tokens)
    )
