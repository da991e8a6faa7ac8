"""Guided checks: "compacts too often?" and "uses too many tokens?", step by step up to a finding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from compaction_app.engine.diagnose import Finding, Subject
from compaction_app.engine.diagnose.history import History, history_of
from compaction_app.engine.diagnose.overhead import overhead_tokens
from compaction_app.engine.diagnose.reserve import compaction_lines
from compaction_app.engine.diagnose.results import result_cap
from sessions_app.plurals import counted
from sessions_app.tokens.message_tokens import IMAGE_CHARS
from sessions_app.tokens.pressure import CHARS_PER_TOKEN
from sessions_app.transcripts.timeline import PARTS

State = Literal["ok", "bad", "unknown"]

LARGEST_RESULTS: Final = 5
MUCH: Final = 0.25
"""A part that takes a quarter of the window is worth a look."""

OFTEN: Final = (
    "COMPACTION_LOOP", "NO_PROGRESS", "SESSION_BELOW_KEEP", "NO_LEGAL_CUT", "COMPACTS_FROM_FIRST_TOKEN",
    "KEEP_GE_THRESHOLD", "COMPACTS_OFTEN", "RESERVE_SHRINKS_PROMPT", "WINDOW_TOO_SMALL", "WINDOW_ASSUMED",
    "WINDOW_MISMATCH", "SOFT_IS_DISTANCE", "OVERHEAD_HIGH", "TOOL_RESULTS_AGGREGATE", "TOOL_RESULT_OVERSIZED",
)  # fmt: skip
MANY_TOKENS: Final = (
    "OVERHEAD_HIGH", "TOOL_RESULT_OVERSIZED", "TOOL_RESULTS_AGGREGATE", "ATTACHMENTS_ACCUMULATE",
    "PRUNE_TTL_NEVER_EXPIRES", "PRUNE_COLD_START", "PRUNE_INELIGIBLE", "PRUNE_TTL_INVALID",
    "COMPACTION_LOOP", "NO_PROGRESS", "COMPACTS_OFTEN",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CheckStep:
    """One thing looked at: what was found, and whether it is out of order."""

    title: str
    found: str
    state: State


@dataclass(frozen=True, slots=True)
class Check:
    """A question with its steps; it ends in a finding, or in words that say why there is none."""

    question: str
    steps: tuple[CheckStep, ...]
    finding: Finding | None
    words: str


def guided_checks(subject: Subject, found: Sequence[Finding]) -> tuple[Check, Check]:
    """Both checks of a session, or of settings alone."""
    return _often(subject, found), _many_tokens(subject, found)


def _often(subject: Subject, found: Sequence[Finding]) -> Check:
    history = history_of(subject)
    steps = (
        _frequency(history),
        _windows(found),
        _reserve(subject),
        _kept_tail(subject),
        _overhead(subject),
        _results(subject, history),
    )
    finding = _first(found, OFTEN)
    words = "Nothing is out of order." if finding is None else ""
    if finding is None and history is not None and not history.compactions:
        words = "This session was never compacted, and nothing in its settings is out of order."
    return Check("Does it compact too often?", steps, finding, words)


def _many_tokens(subject: Subject, found: Sequence[Finding]) -> Check:
    history = history_of(subject)
    steps = (
        _largest_results(subject, history),
        _images(subject),
        _overhead(subject),
        _pruning(subject, found),
        _parts(subject),
    )
    finding = _first(found, MANY_TOKENS) or _largest_part(subject)
    words = "" if finding else "No session was looked at; its settings cost nothing unusual."
    return Check("Does it use too many tokens?", steps, finding, words)


def _first(found: Iterable[Finding], codes: Sequence[str]) -> Finding | None:
    known = {finding.code: finding for finding in reversed(list(found))}
    return next((known[code] for code in codes if code in known), None)


def _frequency(history: History | None) -> CheckStep:
    title = "Compactions and the turns between them"
    if history is None:
        return CheckStep(title, "no session was looked at", "unknown")
    compactions = history.compactions
    if len(compactions) < 2:
        return CheckStep(
            title, f"{len(compactions)} in {counted(history.grown.turns, 'turn')}", "ok"
        )
    turns = compactions[-1].turn - compactions[0].turn
    between = turns / (len(compactions) - 1)
    words = (
        f"{len(compactions)} in {counted(history.grown.turns, 'turn')}, {between:.1f} turns apart"
    )
    return CheckStep(title, words, "bad" if between <= 5 else "ok")


def _windows(found: Sequence[Finding]) -> CheckStep:
    finding = next((f for f in found if f.code.startswith("WINDOW_")), None)
    words = finding.consequence if finding else "known, and the same for everybody who asks"
    return CheckStep("The window", words, "bad" if finding else "ok")


def _reserve(subject: Subject) -> CheckStep:
    window, reserve = subject.lines.window, float(subject.lines.settings.reserve_tokens)
    return _share("Reserve", reserve, window, 0.5)


def _kept_tail(subject: Subject) -> CheckStep:
    keep = float(subject.lines.settings.keep_recent_tokens)
    line = min((each.tokens for each in compaction_lines(subject)), default=0)
    if not line:
        return CheckStep("Kept tail", f"{keep:,.0f} tokens; no line compacts", "ok")
    words = f"{keep:,.0f} tokens, {keep / line:.0%} of the lowest line that compacts ({line:,})"
    return CheckStep("Kept tail", words, "bad" if keep > line / 2 else "ok")


def _overhead(subject: Subject) -> CheckStep:
    title = "System prompt, files, skills and tools"
    tokens = overhead_tokens(subject)
    if not tokens:
        words = "unknown: no report of the runtime, and too few billed calls to measure it"
        return CheckStep(title, words, "unknown")
    return _share(title, tokens, subject.lines.window, MUCH)


def _share(title: str, tokens: float, window: int, limit: float) -> CheckStep:
    if not window:
        return CheckStep(title, f"{tokens:,.0f} tokens; the window is unknown", "unknown")
    words = f"{tokens:,.0f} tokens, {tokens / window:.0%} of the window"
    return CheckStep(title, words, "bad" if tokens > limit * window else "ok")


def _results(subject: Subject, history: History | None) -> CheckStep:
    title = "Tool results in the last cycle"
    if history is None:
        return CheckStep(title, "no session was looked at", "unknown")
    grown = history.grown
    if not grown.calls:
        return CheckStep(title, "no model call yet", "unknown")
    return _share(
        title, float(grown.parts[PARTS.index("tool results"), -1]), subject.lines.window, 0.5
    )


def _largest_results(subject: Subject, history: History | None) -> CheckStep:
    title, cap = "Largest tool results", result_cap(subject)
    if history is None:
        return CheckStep(
            title, f"no session was looked at; the cap of one is {cap:,} characters", "unknown"
        )
    signs = sorted(history.signs.results, key=lambda sign: -sign.chars)[:LARGEST_RESULTS]
    if not signs:
        return CheckStep(title, "none worth a mention", "ok")
    listed = ", ".join(
        f"{s.tool or 'a tool'} {s.chars:,} characters (line {s.line})" for s in signs
    )
    return CheckStep(
        title, f"{listed}; the cap is {cap:,}", "bad" if signs[0].chars > cap else "ok"
    )


def _images(subject: Subject) -> CheckStep:
    title = "Images and attachments"
    if subject.grown is None:
        return CheckStep(title, "no session was looked at", "unknown")
    images = int(subject.grown.columns.images.sum())
    tokens = images * IMAGE_CHARS // CHARS_PER_TOKEN
    state: State = "bad" if tokens > 0.1 * subject.lines.window else "ok"
    return CheckStep(
        title, f"{images:,}, about {tokens:,} tokens in every call" if images else "none", state
    )


def _pruning(subject: Subject, found: Sequence[Finding]) -> CheckStep:
    finding = next((f for f in found if f.code.startswith("PRUNE_")), None)
    if finding is not None:
        return CheckStep("Pruning of old tool results", finding.consequence, "bad")
    is_on = subject.policy.pruning_mode != "off"
    return CheckStep("Pruning of old tool results", "on" if is_on else "off", "ok")


def _parts(subject: Subject) -> CheckStep:
    title = "What was sent, by kind"
    shares = part_shares(subject)
    if not shares:
        return CheckStep(title, "no session was looked at", "unknown")
    listed = ", ".join(f"{name} {share:.0%}" for name, share in shares if share >= 0.005)
    return CheckStep(title, f"{listed} (messages alone, estimated)", "ok")


def part_shares(subject: Subject) -> list[tuple[str, float]]:
    """The share of each part in all messages that were sent, the largest first; empty without calls."""
    if subject.grown is None or not subject.grown.calls:
        return []
    sums = subject.grown.parts.sum(axis=1)
    total = int(sums.sum()) or 1
    return sorted(zip(PARTS, (sums / total).tolist(), strict=True), key=lambda pair: -pair[1])


def _largest_part(subject: Subject) -> Finding | None:
    shares = part_shares(subject)
    if not shares or subject.grown is None:
        return None
    name, share = shares[0]
    grown = subject.grown
    sent = int(grown.billed_prompt[subject.billed].sum()) if len(subject.billed) else 0
    how = "billed" if sent else "characters / 4"
    sent = sent or int(grown.estimated.sum())
    return Finding(
        "LARGEST_PART",
        f"Nothing is out of order. {sent:,} tokens were sent in {counted(grown.calls, 'call')}; the largest part "
        f"of the messages are {name} ({share:.0%}).",
        {
            "part": name,
            "share": round(share, 2),
            "tokensSent": sent,
            "calls": grown.calls,
            "estimator": how,
        },
    )
