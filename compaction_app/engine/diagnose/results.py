"""Are tool results too large, one by one or together?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from compaction_app.engine.diagnose.finding import Finding, whole
from compaction_app.engine.diagnose.history import History
from compaction_app.engine.diagnose.subject import Subject
from compaction_app.engine.policy_config import config_with_policy
from compaction_app.engine.pruning.caps import live_max_chars
from sessions_app.transcripts.columns import TOOL_RESULT

CAP: Final = "contextLimits.toolResultMaxChars"


def find(subject: Subject, history: History) -> Iterator[Finding]:
    """Findings about results on the branch; the sum of a turn is judged by known settings only."""
    cap = result_cap(subject)
    yield from _oversized(subject, history, cap)
    if subject.is_known:
        yield from _aggregate(subject, history, cap)


def result_cap(subject: Subject) -> int:
    """The cap of one tool result in this window, characters."""
    around = subject.around
    config = config_with_policy(subject.policy, around.provider, around.model, around.config)
    return whole(live_max_chars(subject.lines.window, config, None, around.rules.pruning.caps))


def _oversized(subject: Subject, history: History, cap: int) -> Iterator[Finding]:
    signs = [
        sign
        for sign in history.signs.results
        if sign.chars > cap and history.place_of(sign.seq) is not None
    ]
    if not signs:
        return
    largest = max(signs, key=lambda sign: sign.chars)
    others = f", and {len(signs) - 1} more are over it" if len(signs) > 1 else ""
    yield Finding(
        "TOOL_RESULT_OVERSIZED",
        f"A result of {largest.tool or 'a tool'} had {largest.chars:,} characters; {cap:,} is the most "
        f"that is kept of one in this window{others}.",
        {
            "tool": largest.tool,
            "chars": largest.chars,
            "cap": cap,
            "results": len(signs),
            "ruleSet": subject.around.rules.id,
        },
        line=largest.line,
    )


def _aggregate(subject: Subject, history: History, cap: int) -> Iterator[Finding]:
    grown = history.grown
    rows = grown.columns
    if not len(rows):
        return
    chars = np.where(rows.kind == TOOL_RESULT, rows.result_chars, 0)
    turns = np.cumsum(subject.is_person)
    before = {sign.seq: sign.chars for sign in history.signs.results}
    sums = np.bincount(turns, weights=chars)
    for turn in np.argsort(-sums).tolist():
        if sums[turn] <= cap:
            return
        places = np.flatnonzero((turns == turn) & (chars > 0))
        sizes = [before.get(int(grown.branch[place]), int(chars[place])) for place in places]
        if len(sizes) < 2 or max(sizes) > cap:
            continue
        yield Finding(
            "TOOL_RESULTS_AGGREGATE",
            f"The {len(sizes)} tool results of turn {turn} have {whole(sums[turn]):,} characters "
            f"together; none is over the cap of {cap:,}, so nothing is cut before they overflow.",
            {
                "results": len(sizes),
                "chars": whole(sums[turn]),
                "largest": max(sizes),
                "cap": cap,
                "turn": turn,
                "ruleSet": subject.around.rules.id,
            },
            {CAP: max(cap // len(sizes), 1_000)},
            history.line_at(int(places[0])),
        )
        return
