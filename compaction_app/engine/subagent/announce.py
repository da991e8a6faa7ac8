"""What a finished subagent says to its requester, and how its run is measured (spec compaction 7)."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

from compaction_app.engine.silent_reply import (
    OPENCLAW_2026_5_28,
    SILENT_TOKEN,
    SilentRules,
    is_silent_text,
    starts_with_glued_token,
    strip_leading_tokens,
    strip_trailing_token,
)
from sessions_app.tokens import javascript as js

ANNOUNCE_SKIP = "ANNOUNCE_SKIP"
REPLY_SKIP = "REPLY_SKIP"
CONTROL_TOKENS = (SILENT_TOKEN, ANNOUNCE_SKIP, REPLY_SKIP)
WAKE_SUFFIX = ":wake"

_FRAGMENT = re.compile("[A-Z_]+")
_WAKES = re.compile(f"(?:{WAKE_SUFFIX})+$")
MILLION, THOUSAND = 1_000_000, 1000


def clean_reply(text: str, rules: SilentRules = OPENCLAW_2026_5_28) -> str | None:
    """The reply without the silence token at its edges; none when nothing is to be announced."""
    if is_silent_text(text, rules):
        return None
    reply = strip_leading_tokens(text) if starts_with_glued_token(text) else text
    return strip_trailing_token(reply, rules=rules) or None


def skips_announcement(text: str) -> bool:
    """Whether the reply is exactly the token that asks for no announcement, case included."""
    return js.trim(text) == ANNOUNCE_SKIP


def is_control(text: str, rules: SilentRules = OPENCLAW_2026_5_28) -> bool:
    """Whether a reply says nothing but a control token, or several where the version takes those."""
    if any(is_silent_text(text, rules, token) for token in CONTROL_TOKENS):
        return True
    words = text.split()
    return (
        rules.mixes_tokens
        and bool(words)
        and all(any(is_silent_text(w, rules, token) for token in CONTROL_TOKENS) for w in words)
    )


def may_become_control(text: str, rules: SilentRules = OPENCLAW_2026_5_28) -> bool:
    """Whether a reply that is being written could turn out to be a control token.

    Without an underscore two letters of ``NO_REPLY`` are enough, whatever their case, and three
    capitals of the others.
    """
    given = js.trim(text)
    fragment = given.upper()
    if _FRAGMENT.fullmatch(fragment) is None:
        return False
    tokens = [t for t in CONTROL_TOKENS if t.startswith(fragment) and t != fragment]
    if "_" in fragment:
        return bool(tokens)
    return any(
        len(fragment) >= 2
        if token == SILENT_TOKEN
        else len(fragment) >= 3 and (rules.any_case or given == fragment)
        for token in tokens
    )


def is_wake_run(run_id: str) -> bool:
    """Whether the run was started to wake a session up."""
    return run_id.endswith(WAKE_SUFFIX)


def base_run(run_id: str) -> str:
    return _WAKES.sub("", run_id)


def duration_text(milliseconds: float | None) -> str:
    """A duration to the second, with its two largest units; ``n/a`` when there is none."""
    if not js.is_finite(milliseconds) or milliseconds <= 0:
        return "n/a"
    seconds = int(js.round_half_up(milliseconds / 1000))
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"


def tokens_text(tokens: float | None) -> str:
    """A count of tokens, shortened to thousands or millions with one decimal."""
    if not js.is_finite(tokens) or tokens <= 0:
        return "0"
    for size, unit in ((MILLION, "m"), (THOUSAND, "k")):
        if tokens >= size:
            tenths = Decimal(tokens / size).quantize(Decimal("0.1"), ROUND_HALF_UP)
            return f"{tenths}{unit}"
    return str(js.round_half_up(tokens))


def stats_line(
    runtime_ms: float | None, total: float, sent: float, received: float, prompt_cache: float | None
) -> str:
    """The run in one line; the cached prompt is named when it is more than what was counted."""
    line = (
        f"Stats: runtime {duration_text(runtime_ms)} • tokens {tokens_text(total)} "
        f"(in {tokens_text(sent)} / out {tokens_text(received)})"
    )
    if prompt_cache is not None and prompt_cache > sent + received:
        line += f" • prompt/cache {tokens_text(prompt_cache)}"
    return line
