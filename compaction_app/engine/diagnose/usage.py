"""Can the token figures be trusted? Stored totals, reported usage, and the estimator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from compaction_app.engine.diagnose.finding import Finding, whole
from compaction_app.engine.diagnose.subject import CHARS_PER_TOKEN, Subject
from compaction_app.engine.pruning.cache_ttl_settings import CACHE_TTL_MODE
from sessions_app.plurals import counted
from sessions_app.tokens import javascript as js
from sessions_app.tokens.pressure import SAFETY_MARGIN
from sessions_app.transcripts.columns import COMPACTION, UNKNOWN
from sessions_app.transcripts.session_index import is_known_fresh
from sessions_app.transcripts.timeline import Timeline

ESTIMATOR: Final = "characters / 4"
LEAST_ESTIMATE: Final = 1_000
"""Fewer estimated tokens say nothing about an estimator."""


def find(subject: Subject) -> Iterator[Finding]:
    """Findings about figures."""
    if subject.entry is not None:
        yield from _stored_total(subject)
    if subject.grown is not None:
        yield from _missing(subject, subject.grown)
        # What was pruned was not billed, and nobody recorded it.
        if not (subject.signs.touches and subject.policy.pruning_mode == CACHE_TTL_MODE):
            yield from _estimator(subject, subject.grown)


def _stored_total(subject: Subject) -> Iterator[Finding]:
    entry = subject.entry or {}
    total, window = entry.get("totalTokens"), subject.lines.window
    summed = subject.summed_total
    if summed is not None:
        last = subject.rest_total
        shown = f"the last call's {last:,} are" if last is not None else "unknown is"
        numbers: dict[str, int | float | str] = {"totalTokens": summed, "contextWindow": window}
        if last is not None:
            numbers["lastCallTokens"] = last
        yield Finding(
            "TOTAL_IS_CUMULATIVE",
            f"The stored total of {summed:,} tokens adds up several calls; {shown} shown instead.",
            numbers,
        )
    used = any(js.is_finite(entry.get(name)) for name in ("totalTokens", "inputTokens"))
    was_measured = used or entry.get("totalTokensFresh") is False
    if was_measured and not is_known_fresh(entry):
        known = f"{total:,} is old" if js.is_finite(total) else "it is unknown"
        numbers = {"totalTokensFresh": str(entry.get("totalTokensFresh")).lower()}
        if js.is_finite(total):
            numbers["totalTokens"] = whole(total)
        numbers["contextWindow"] = window
        yield Finding(
            "TOTAL_STALE",
            f"The index holds no fresh total: {known}, and the memory flush does not count on it.",
            numbers,
        )


def _missing(subject: Subject, grown: Timeline) -> Iterator[Finding]:
    """Calls that ended well and of which no usage was reported."""
    failed = {failure.seq for failure in subject.signs.failures}
    sequence = grown.branch[grown.place]
    ended_well = np.array([int(seq) not in failed for seq in sequence], bool)
    calls = int(ended_well.sum())
    missing = int((ended_well & (grown.billed_prompt == UNKNOWN)).sum())
    if not calls or 2 * missing <= calls:
        return
    yield Finding(
        "USAGE_MISSING",
        f"The provider reported no usage for {missing:,} of {counted(calls, 'call')}; the curve is an estimate "
        f"({ESTIMATOR}).",
        {"callsWithoutUsage": missing, "calls": calls, "estimator": ESTIMATOR},
    )


def _estimator(subject: Subject, grown: Timeline) -> Iterator[Finding]:
    """Growth against growth, so that what every call holds alike is no part of it."""
    billed, estimated = _growth(subject, grown)
    against = "billed"
    if estimated < LEAST_ESTIMATE:
        against = "exact"
        billed, estimated = _exact(subject, grown)
    if estimated < LEAST_ESTIMATE:
        return
    ratio = billed / estimated
    if 1 / SAFETY_MARGIN <= ratio <= SAFETY_MARGIN:
        return
    share = subject.signs.cjk_share
    low = ratio > SAFETY_MARGIN
    who = "the provider" if against == "billed" else "the model's vocabulary"
    script = (
        f"; {share:.0%} of the characters are Chinese, Japanese or Korean" if share >= 0.01 else ""
    )
    measured = subject.calibration
    is_median = against == "billed" and measured.enough
    steps = (
        f" That is all growth together; the median of the steps between calls, which the what-if works "
        f"with, is {measured.density:.2f}."
        if is_median and abs(measured.density - ratio) >= 0.005
        else ""
    )
    yield Finding(
        "ESTIMATOR_LOW" if low else "ESTIMATOR_HIGH",
        f"The estimate by {ESTIMATOR} is too {'low' if low else 'high'} here: {who} counts "
        f"{ratio:.2f} tokens for each estimated one, {CHARS_PER_TOKEN / ratio:.1f} characters a "
        f"token{script}.{steps}",
        {
            "estimator": ESTIMATOR,
            f"{against}Tokens": whole(billed),
            "estimatedTokens": whole(estimated),
            "ratio": round(ratio, 3),
            **({"medianRatio": round(measured.density, 3)} if is_median else {}),
            "charsPerToken": round(CHARS_PER_TOKEN / ratio, 2),
            "cjkShare": round(share, 3),
            "safetyMargin": SAFETY_MARGIN,
        },
    )


def _growth(subject: Subject, grown: Timeline) -> tuple[float, float]:
    """What the prompts grew by between billed calls, and the estimate of what came in between.

    Left out are steps over a compaction, steps in which the prompt shrank, and steps with a tool
    result that was cut since: there the two do not speak of the same text.
    """
    if len(subject.billed) < 2:
        return 0.0, 0.0
    rows, place = grown.columns, grown.place[subject.billed]
    sums = np.concatenate(([0], np.cumsum(np.where(rows.kind == COMPACTION, 0, rows.tokens))))
    cut = np.concatenate(([0], np.cumsum(_is_cut(subject, grown))))
    start, end = place[:-1], place[1:]
    estimated, growth = sums[end] - sums[start], np.diff(grown.billed_prompt[subject.billed])
    compacted = np.searchsorted(grown.compactions.place, end) - np.searchsorted(
        grown.compactions.place, start
    )
    telling = (compacted == 0) & (growth >= 0) & (estimated > 0) & (cut[end] == cut[start])
    return float(growth[telling].sum()), float(estimated[telling].sum())


def _exact(subject: Subject, grown: Timeline) -> tuple[float, float]:
    """The messages of the last call by the vocabulary and by the estimate; images are in one only."""
    if not grown.calls or len(subject.billed) > 1 or int(grown.exact[-1]) == UNKNOWN:
        return 0.0, 0.0
    if grown.columns.images.any():
        return 0.0, 0.0
    return float(grown.exact[-1]), float(grown.estimated[-1])


def _is_cut(subject: Subject, grown: Timeline) -> np.ndarray:
    """For each row of the branch 1 where a tool result is shorter than the tool returned it."""
    before = {sign.seq: sign.chars for sign in subject.signs.results}
    chars = grown.columns.result_chars.tolist()
    return np.array(
        [before.get(seq, 0) > now for seq, now in zip(grown.branch.tolist(), chars, strict=True)],
        np.int64,
    )
