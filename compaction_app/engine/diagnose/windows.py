"""Is the context window known, large enough, and the same for everybody who asks?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from compaction_app.engine.config_value import models_of, provider_entries
from compaction_app.engine.diagnose.finding import Finding, whole
from compaction_app.engine.diagnose.subject import Subject
from compaction_app.engine.overflow import classify_overflow
from compaction_app.engine.policy_config import policy_from_config
from compaction_app.engine.run_window import CAP_SOURCE
from compaction_app.engine.window import DEFAULT_CONTEXT_TOKENS, WindowResolution
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.columns import UNKNOWN

_LIMIT: Final = re.compile(
    r"(?:maximum context length (?:is|of)|context (?:length|limit|window) (?:is|of)|maximum:?|limit:?|>)"
    r"\s*([\d,]{4,})|\(([\d,]{4,}) tokens\)\s*$|([\d,]{4,})\s+maximum",
    re.IGNORECASE,
)


def find(subject: Subject) -> Iterator[Finding]:
    """Findings about the windows."""
    if subject.is_known:
        yield from _too_small(subject)
        yield from _mismatch(subject)
        yield from _stale_in_store(subject)
    yield from _assumed(subject)


def _too_small(subject: Subject) -> Iterator[Finding]:
    guard, window = subject.lines.guard, subject.lines.window
    if not (guard.should_warn or guard.should_block):
        return
    outcome = (
        "so small that no model call is made"
        if guard.should_block
        else "small: the runtime warns at every start"
    )
    yield Finding(
        "WINDOW_TOO_SMALL",
        f"The window of {window:,} tokens is {outcome}.",
        {
            "contextWindow": window,
            "warnBelowTokens": whole(guard.thresholds.warn),
            "hardMinTokens": whole(guard.thresholds.hard),
        },
        {"contextTokens": None}
        if subject.policy.context_tokens
        else {"contextWindow": max(4 * window, 32_000)},
    )


def _mismatch(subject: Subject) -> Iterator[Finding]:
    chains = {
        "flush": subject.lines.flush_window,
        "run": subject.lines.run_window,
        "reply": subject.lines.reply_window,
    }
    if len({chain.tokens for chain in chains.values()}) < 2:
        return
    flush, run = chains["flush"].tokens or 0, chains["run"].tokens or 0
    numbers: dict[str, int | float | str] = {
        f"{name}Window": whole(chain.tokens or 0) for name, chain in chains.items()
    }
    numbers |= {f"{name}Chain": _chain_text(chain) for name, chain in chains.items()}
    yield Finding(
        "WINDOW_MISMATCH",
        f"Memory flush and preflight judge by a window of {flush:,} tokens, runs by {run:,}: their "
        "lines do not fit together.",
        numbers,
        {"contextTokens": None}
        if subject.policy.context_tokens and subject.policy.context_window
        else {"contextWindow": whole(flush)},
    )  # fmt: skip


def _chain_text(chain: WindowResolution) -> str:
    """The sources asked in order, what each said, and whether that decided."""
    return "; ".join(
        f"{step.source}: {'nothing' if step.said is None else step.said} ({step.verdict})"
        for step in chain.trace
    )


def _assumed(subject: Subject) -> Iterator[Finding]:
    if not _is_assumed(subject):
        return
    run, window = subject.lines.run_window, subject.lines.window
    limit, line = observed_limit(subject)
    if not (subject.is_known or (limit and limit < window)):
        return
    numbers: dict[str, int | float | str] = {"contextWindow": window, "source": run.source or ""}
    consequence = f"No source names the model's window; {window:,} tokens are assumed"
    if limit and limit < window:
        numbers["observedLimit"] = limit
        yield Finding(
            "WINDOW_ASSUMED",
            f"{consequence}, but the provider refused a prompt at {limit:,}: every line stands too "
            "high.",
            numbers,
            {"contextWindow": limit},
            line,
        )
        return
    yield Finding(
        "WINDOW_ASSUMED",
        f"{consequence}: if that is wrong, every line is.",
        numbers,
        {"contextWindow": window},
    )


def _is_assumed(subject: Subject) -> bool:
    """Whether only a default stands behind the window, capped or not.

    What the index says of a listed model without a window is that same default, written down.
    """
    run = subject.lines.run_window
    if run.source == "default" or (
        run.source == CAP_SOURCE and subject.policy.context_window is None
    ):
        return True
    written = subject.policy.context_window == (subject.entry or {}).get("contextTokens")
    is_default = subject.policy.context_window == DEFAULT_CONTEXT_TOKENS
    return written and is_default and _is_listed_without_window(subject)


def _is_listed_without_window(subject: Subject) -> bool:
    around = subject.around
    for key, provider in provider_entries(around.config):
        if js.norm(key) == js.norm(around.provider):
            for model in models_of(provider):
                if model.get("id") == around.model:
                    fields = ("contextWindow", "contextTokens")
                    return not any(js.pos_int(model.get(name)) for name in fields)
    return False


def observed_limit(subject: Subject) -> tuple[int | None, int | None]:
    """The window that a refusal of the provider gives away, and its line; none without a refusal.

    The limit is what the refusal names; where it names none, the size of the prompt refused.
    """
    rules = subject.around.rules
    others: set[str] = set()  # the same error tends to come many times
    for failure in subject.signs.failures:
        if failure.text in others:
            continue
        verdict = classify_overflow(rules.overflow, rules.id, failure.text)
        if not verdict.likely:
            others.add(failure.text)
            continue
        named = _LIMIT.search(failure.text)
        if named:
            digits = next(group for group in named.groups() if group)
            return int(digits.replace(",", "")), failure.line
        return verdict.observed_tokens or _last_billed_before(subject, failure.seq), failure.line
    return None, None


def _last_billed_before(subject: Subject, seq: int) -> int | None:
    if subject.grown is None:
        return None
    grown = subject.grown
    before = [i for i in subject.billed.tolist() if grown.branch[grown.place[i]] < seq]
    total = int(grown.billed_total[before[-1]]) if before else UNKNOWN
    return total if total != UNKNOWN else None


def _stale_in_store(subject: Subject) -> Iterator[Finding]:
    stored = js.pos_int((subject.entry or {}).get("contextTokens"))
    around = subject.around
    read = policy_from_config(
        around.config,
        around.provider,
        around.model,
        around.rules.materialize.snapshot_mode,
    ).policy
    configured, cap = read.context_window, read.context_tokens
    wanted = {value for value in (configured, cap) if value}
    if not stored or not wanted or stored in wanted:
        return
    right = min(wanted)
    gap = int(stored) - right
    when = (
        f"the fill looks smaller than it is and warnings come {gap:,} tokens too late"
        if gap > 0
        else f"the fill looks larger than it is and warnings come {-gap:,} tokens too early"
    )
    numbers: dict[str, int | float | str] = {"storedContextTokens": int(stored), "tokensOff": gap}
    numbers |= _present({"contextWindow": configured, "contextTokens": cap})
    yield Finding(
        "STORE_WINDOW_STALE",
        f"The session index still says {stored:,} tokens where {right:,} are configured: {when}.",
        numbers,
    )


def _present(values: Mapping[str, float | None]) -> dict[str, float]:
    return {key: value for key, value in values.items() if value is not None}
