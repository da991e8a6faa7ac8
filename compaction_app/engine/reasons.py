"""What a reason code means, in a sentence. Pages, answers and findings say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SENTENCES: Final[Mapping[str, str]] = {
    "active": "acts",
    "path_runs_no_gates": "only the chat path runs preflight and memory flush; agent and local runs do not",
    "cli_backend": "a command line backend keeps its own context",
    "memory_flush_disabled": "memoryFlush.enabled is false",
    "workspace_not_writable": "the sandboxed workspace cannot be written",
    "window_too_small_for_flush": "the window is not larger than floor plus soft threshold",
    "version_has_no_preflight": "this version has no preflight compaction",
    "total_is_known": "this version judges no total that the provider reported",
    "version_has_no_precheck": "this version has no pre-prompt check",
    "safeguard_mode": "safeguard mode switches the inner threshold off",
    "context_engine_owns_compaction": "the context engine compacts by itself",
    "silent_overflow_model": "the model cuts long prompts silently, so the inner threshold is off",
    "preflight_due": "the stored total reached the preflight line",
    "flush_due": "the projected prompt reached the flush line",
    "flush_forced_by_size": "the transcript file reached forceFlushTranscriptBytes",
    "below_threshold": "the total is below the line",
    "already_flushed_in_cycle": "a flush already ran in this compaction cycle",
    "no_total": "no total is known",
    "above_threshold": "the total is above the inner threshold",
    "prompt_exceeds_window": "the prompt is larger than the window, so the provider refuses it",
    "context_overflow": "still too large after every recovery: the turn ends in the overflow reply",
    "estimate_within_budget": "the estimate fits",
    "nothing_to_truncate": "the estimate is over the budget and no tool result can be cut",
    "truncation_suffices": "the estimate is over the budget; cutting tool results is enough",
    "truncation_not_enough": "the estimate is over the budget; cutting tool results is not enough",
    "recorded": "as the transcript says",
}


def sentence(code: str) -> str:
    """The meaning of a code; the code itself, in words, where it says enough."""
    return SENTENCES.get(code, code.replace("_", " "))
