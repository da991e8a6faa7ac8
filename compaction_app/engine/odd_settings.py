"""Settings that are accepted and do what they say, which can hardly be what is wanted: said beside the knob."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy

LARGEST_KNOWN_WINDOW: Final = 10_000_000
"""Tokens. No model is sold with more."""

LEAST_KEEP: Final = 500
LEAST_RESULT_CHARS: Final = 500
LEAST_ANSWER: Final = 256


def odd_settings(policy: Policy, lines: Lines) -> Mapping[str, str]:
    """For each odd setting, by key: what comes of it."""
    window, notes = lines.window, {}
    guard = lines.guard
    if guard.should_block:
        least = f"{guard.thresholds.hard:,}"
        notes["contextWindow"] = (
            f"The window guard starts no run below {least} tokens; the curve is drawn as if it did."
        )
    elif guard.should_warn:
        notes["contextWindow"] = (
            f"The window guard warns below {guard.thresholds.warn:,} tokens; the run goes on."
        )
    elif window > LARGEST_KNOWN_WINDOW:
        notes["contextWindow"] = (
            "No known model has such a window: the provider refuses long before any line."
        )
    if policy.max_tokens and window and policy.max_tokens >= window:
        notes["maxTokens"] = (
            f"An answer this long leaves nothing of the window of {window:,} for a prompt."
        )
    elif policy.max_tokens and policy.max_tokens < LEAST_ANSWER:
        notes["maxTokens"] = "So short an answer is cut off in the middle, summaries too."
    if not lines.settings.reserve_tokens:
        notes["compaction.reserveTokens"] = (
            "Nothing is kept free for the answer: a prompt may fill the window, and its answer is cut."
        )
    if 0 < policy.keep_recent_tokens < LEAST_KEEP:
        notes["compaction.keepRecentTokens"] = (
            "A compaction keeps little more than the last message: the rest survives only in its summary."
        )
    if policy.tool_result_max_chars and policy.tool_result_max_chars < LEAST_RESULT_CHARS:
        notes["contextLimits.toolResultMaxChars"] = (
            "Of every tool result hardly more than the notice that it was cut is left."
        )
    return notes
