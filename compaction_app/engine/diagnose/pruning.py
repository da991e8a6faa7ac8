"""Does cache-TTL pruning, where it is configured, ever run?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from compaction_app.engine.config_value import value_at
from compaction_app.engine.diagnose.finding import Finding, whole
from compaction_app.engine.diagnose.history import History
from compaction_app.engine.diagnose.subject import Subject
from compaction_app.engine.policy import BY_KEY
from compaction_app.engine.policy_config import config_with_policy
from compaction_app.engine.pruning.cache_ttl import prune_context
from compaction_app.engine.pruning.cache_ttl_settings import (
    CACHE_TTL_MODE,
    CacheTtlSettings,
    cache_ttl_settings,
    context_pruning,
    ttl_fault,
)
from compaction_app.engine.pruning.eligibility import cache_ttl_eligible
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.columns import ASSISTANT, COMPACTION, TOOL_RESULT, UNKNOWN

MODE: Final = "contextPruning.mode"
TTL: Final = "contextPruning.ttl"
CHARS_PER_TOKEN: Final = 4
_TTLS: Final = (
    ("1s", 1), ("5s", 5), ("10s", 10), ("15s", 15), ("30s", 30), ("1m", 60), ("2m", 120), ("5m", 300),
    ("10m", 600), ("15m", 900), ("30m", 1800), ("1h", 3600), ("2h", 7200), ("6h", 21_600),
)  # fmt: skip


def find(subject: Subject, history: History | None) -> Iterator[Finding]:
    """Findings about pruning; none where nobody asked for it."""
    if not subject.is_known:
        return
    yield from _bad_ttl(subject)
    settings = _settings(subject)
    if settings is None:
        yield from _mode_missing(subject)
        return
    around = subject.around
    api = _api(subject)
    judged = cache_ttl_eligible(around.provider, around.model, around.rules, api)
    if not judged.fired and around.provider:
        yield Finding(
            "PRUNE_INELIGIBLE",
            f"Cache-TTL pruning is configured but never runs: {around.provider}/{around.model} is not "
            "known to cache prompts.",
            {"provider": around.provider, "model": around.model, "api": api or "", "reason": judged.reason},
            {MODE: "off"},
        )  # fmt: skip
    elif history is not None and history.grown.calls:
        yield from _never_expires(subject, history, settings)
        if not history.signs.touches:
            yield Finding(
                "PRUNE_COLD_START",
                "No entry says yet when the prompt cache was last used, so pruning could not run.",
                {"calls": history.grown.calls, "ttl": subject.policy.pruning_ttl},
            )


def _settings(subject: Subject) -> CacheTtlSettings | None:
    around = subject.around
    config = config_with_policy(subject.policy, around.provider, around.model, around.config)
    return cache_ttl_settings(context_pruning(config), around.rules.pruning.cache_ttl.durations)


def _bad_ttl(subject: Subject) -> Iterator[Finding]:
    """A ttl that the runtime cannot read: the file is taken, and the default holds in silence."""
    default = BY_KEY[TTL].default
    fault = ttl_fault(subject.policy.pruning_ttl, subject.around.rules.pruning.cache_ttl.durations)
    if fault:
        yield Finding(
            "PRUNE_TTL_INVALID",
            f"contextPruning.ttl {subject.policy.pruning_ttl!r} is no duration. The runtime says "
            f"nothing about it and keeps to {default}.",
            {"ttl": subject.policy.pruning_ttl, "usedTtl": default, "problem": fault},
            {TTL: default},
        )


def _mode_missing(subject: Subject) -> Iterator[Finding]:
    """Settings of pruning without the mode that switches it on."""
    keys = sorted(k for k in subject.explicit if k.startswith("contextPruning.") and k != MODE)
    if keys and MODE not in subject.explicit:
        yield Finding(
            "PRUNE_INELIGIBLE",
            f"{keys[0]} is set, but without contextPruning.mode nothing is pruned.",
            {"mode": subject.policy.pruning_mode, "settings": ", ".join(keys)},
            {MODE: CACHE_TTL_MODE},
        )


def _api(subject: Subject) -> str | None:
    """The API that the configuration names for the provider."""
    providers = value_at(subject.around.config, "models", "providers")
    for key in providers if isinstance(providers, dict) else ():
        if js.norm(key) == js.norm(subject.around.provider):
            api = value_at(providers, key, "api")
            return api if isinstance(api, str) else None
    return None


def _never_expires(
    subject: Subject, history: History, settings: CacheTtlSettings
) -> Iterator[Finding]:
    grown = history.grown
    known = grown.at_ms[grown.at_ms != UNKNOWN]
    gaps = np.diff(known)
    if not len(gaps) or int(gaps.max()) >= settings.ttl_ms:
        return
    turns = np.diff(grown.turn[grown.at_ms != UNKNOWN]) > 0
    usual = float(np.median(gaps[turns] if turns.any() else gaps))
    shorter = [(text, seconds) for text, seconds in _TTLS if seconds * 1000 <= usual]
    ttl, _ = shorter[-1] if shorter else _TTLS[0]
    removed = _would_have_gone(subject, history, settings)
    yield Finding(
        "PRUNE_TTL_NEVER_EXPIRES",
        f"No two calls were {settings.ttl_ms / 1000:,.0f} s apart (at most {int(gaps.max()) / 1000:.0f} s), "
        f"so nothing was ever pruned; at a ttl of {ttl} {removed:,} characters would have gone from the "
        "last call.",
        {
            "ttl": subject.policy.pruning_ttl,
            "ttlSeconds": whole(settings.ttl_ms / 1000),
            "largestGapSeconds": round(int(gaps.max()) / 1000, 1),
            "calls": grown.calls,
            "suggestedTtl": ttl,
            "charsThatWouldGo": removed,
        },
        {TTL: ttl},
    )


def _would_have_gone(subject: Subject, history: History, settings: CacheTtlSettings) -> int:
    """Characters that pruning the context of the last call would take away."""
    pruned = prune_context(
        _stand_ins(history), settings, subject.around.rules, window_tokens=subject.lines.window
    )
    return sum(change.removed_chars for change in pruned.changes)


def _stand_ins(history: History) -> Sequence[Any]:
    """Messages of the lengths of the last context; pruning looks at roles, tools and lengths."""
    grown = history.grown
    rows = grown.columns
    start = int(grown.compactions.kept[-1]) if len(grown.compactions.place) else 0
    tools = {sign.seq: sign.tool for sign in history.signs.results}
    found: list[Any] = []
    for place in range(start, len(rows)):
        kind, chars = int(rows.kind[place]), int(rows.tokens[place]) * CHARS_PER_TOKEN
        if kind == TOOL_RESULT:
            tool = tools.get(int(grown.branch[place]), "")
            found.append(
                {"role": "toolResult", "toolName": tool, **_text(int(rows.result_chars[place]))}
            )
        elif kind != COMPACTION and chars:
            role = "assistant" if kind == ASSISTANT else "user"
            found.append({"role": role, **_text(chars)})
    return found


def _text(chars: int) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "x" * chars}]}
