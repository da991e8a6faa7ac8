"""The policy: every setting that decides about windows, compaction, flush and pruning, in one record.

The form, the API schema, the reader and writer of ``openclaw.json`` and the engine use this record
and nothing else (spec budgets 8.4). Defaults are those of the runtime at work: a file without
``compaction.mode`` runs in mode ``default`` (runs 3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from compaction_app.engine.setting import BadValue, Setting, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """All settings with their defaults; attributes are the settings' names in snake case."""

    context_window: int | float | None = setting(
        "contextWindow", "number", None, "Window", "The model's context window in its provider's entry.",
        unit="tokens", minimum=0, above_minimum=True, low=4000, high=1_000_000, step=1000,
    )  # fmt: skip
    context_tokens: int | None = setting(
        "contextTokens", "int", None, "Window",
        "agents.defaults.contextTokens: replaces the window for flush and preflight, caps it for runs.",
        unit="tokens", minimum=0, above_minimum=True, low=4000, high=1_000_000, step=1000,
    )  # fmt: skip
    max_tokens: int | float | None = setting(
        "maxTokens", "number", None, "Window", "Most tokens the model may answer; bounds a summary.",
        unit="tokens", minimum=0, above_minimum=True, low=256, high=64_000, step=256,
    )  # fmt: skip
    reserve_tokens: int = setting(
        "compaction.reserveTokens", "int", 16_384, "Reserve",
        "Tokens kept free for the answer; never below the floor.",
        unit="tokens", minimum=0, low=0, high=100_000, step=500,
    )  # fmt: skip
    reserve_tokens_floor: int = setting(
        "compaction.reserveTokensFloor", "int", 20_000, "Reserve",
        "Least reserve; the flush and preflight lines are measured from it.",
        unit="tokens", minimum=0, low=0, high=100_000, step=500,
    )  # fmt: skip
    memory_flush_enabled: bool = setting(
        "compaction.memoryFlush.enabled", "bool", True, "Memory flush",
        "Write what matters to a memory file before the history is compacted.",
    )  # fmt: skip
    soft_threshold_tokens: int = setting(
        "compaction.memoryFlush.softThresholdTokens", "int", 4_000, "Memory flush",
        "Distance of the flush line below window minus floor; a larger value fires earlier.",
        unit="tokens", minimum=0, low=0, high=100_000, step=500,
    )  # fmt: skip
    force_flush_transcript_bytes: int | str = setting(
        "compaction.memoryFlush.forceFlushTranscriptBytes", "bytes", 2_097_152, "Memory flush",
        "Flush once a cycle when the transcript file has this size; 0 never.", unit="bytes",
    )  # fmt: skip
    memory_flush_model: str = setting(
        "compaction.memoryFlush.model", "text", "", "Memory flush", "Model of the flush turn.",
    )  # fmt: skip
    memory_flush_prompt: str = setting(
        "compaction.memoryFlush.prompt", "text", "", "Memory flush", "Replaces the flush prompt.",
    )  # fmt: skip
    memory_flush_system_prompt: str = setting(
        "compaction.memoryFlush.systemPrompt", "text", "", "Memory flush",
        "Replaces the system text of the flush turn.",
    )  # fmt: skip
    compaction_mode: str = setting(
        "compaction.mode", "choice", "default", "Compaction",
        "safeguard checks every summary, and switches the inner threshold off.",
        choices=("default", "safeguard"),
    )  # fmt: skip
    keep_recent_tokens: int = setting(
        "compaction.keepRecentTokens", "int", 20_000, "Compaction",
        "Estimated tokens of recent messages that a compaction leaves as they are.",
        unit="tokens", minimum=0, above_minimum=True, low=500, high=100_000, step=500,
    )  # fmt: skip
    max_history_share: float = setting(
        "compaction.maxHistoryShare", "number", 0.5, "Compaction",
        "Share of the window that kept history may take before older parts are dropped.",
        unit="share of window", minimum=0.1, maximum=0.9, low=0.1, high=0.9, step=0.05,
    )  # fmt: skip
    recent_turns_preserve: int = setting(
        "compaction.recentTurnsPreserve", "int", 3, "Summary",
        "Recent turns quoted in a safeguard summary.", unit="turns", minimum=0, maximum=12,
    )  # fmt: skip
    compaction_provider: str = setting(
        "compaction.provider", "text", "", "Summary", "Plugin summariser; forces safeguard mode.",
    )  # fmt: skip
    compaction_model: str = setting(
        "compaction.model", "text", "", "Summary", "Model that writes summaries; the session's if empty.",
    )  # fmt: skip
    custom_instructions: str = setting(
        "compaction.customInstructions", "text", "", "Summary", "Added to the summary prompt.",
    )  # fmt: skip
    identifier_policy: str = setting(
        "compaction.identifierPolicy", "choice", "strict", "Summary",
        "Whether identifiers must survive word by word.", choices=("strict", "off", "custom"),
    )  # fmt: skip
    identifier_instructions: str = setting(
        "compaction.identifierInstructions", "text", "", "Summary", "Text for identifierPolicy custom.",
    )  # fmt: skip
    quality_guard_enabled: bool = setting(
        "compaction.qualityGuard.enabled", "bool", True, "Summary", "Check safeguard summaries.",
    )  # fmt: skip
    quality_guard_max_retries: int = setting(
        "compaction.qualityGuard.maxRetries", "int", 1, "Summary",
        "Further attempts when a summary fails the check; 3 at most.", unit="attempts", minimum=0,
    )  # fmt: skip
    mid_turn_precheck: bool = setting(
        "compaction.midTurnPrecheck.enabled", "bool", False, "Compaction",
        "Run the pre-prompt check after each tool result too.",
    )  # fmt: skip
    post_compaction_sections: tuple[str, ...] = setting(
        "compaction.postCompactionSections", "texts", (), "Compaction",
        "Sections of AGENTS.md that are injected again after a compaction.",
    )  # fmt: skip
    timeout_seconds: int = setting(
        "compaction.timeoutSeconds", "int", 900, "Compaction", "Longest compaction.",
        unit="seconds", minimum=0, above_minimum=True,
    )  # fmt: skip
    truncate_after_compaction: bool = setting(
        "compaction.truncateAfterCompaction", "bool", False, "Compaction",
        "Continue in a successor file after a compaction.",
    )  # fmt: skip
    max_active_transcript_bytes: int | str = setting(
        "compaction.maxActiveTranscriptBytes", "bytes", 0, "Compaction",
        "Compact when the file has this size; needs truncateAfterCompaction; 0 never.", unit="bytes",
    )  # fmt: skip
    notify_user: bool = setting(
        "compaction.notifyUser", "bool", False, "Compaction", "Tell the user when a compaction runs.",
    )  # fmt: skip
    pruning_mode: str = setting(
        "contextPruning.mode", "choice", "off", "Pruning",
        "cache-ttl trims and clears old tool results once the provider's cache has expired.",
        choices=("off", "cache-ttl"),
    )  # fmt: skip
    pruning_ttl: str = setting(
        "contextPruning.ttl", "duration", "5m", "Pruning", "Idle time after which pruning may run.",
        unit="duration",
    )  # fmt: skip
    keep_last_assistants: int = setting(
        "contextPruning.keepLastAssistants", "int", 3, "Pruning",
        "Tool results behind this many last answers are left alone.",
        unit="answers", minimum=0, low=0, high=20,
    )  # fmt: skip
    soft_trim_ratio: float = setting(
        "contextPruning.softTrimRatio", "number", 0.3, "Pruning",
        "Fill of the window from which results are trimmed.",
        unit="share of window", minimum=0, maximum=1, low=0, high=1, step=0.05,
    )  # fmt: skip
    hard_clear_ratio: float = setting(
        "contextPruning.hardClearRatio", "number", 0.5, "Pruning",
        "Fill of the window from which results are cleared.",
        unit="share of window", minimum=0, maximum=1, low=0, high=1, step=0.05,
    )  # fmt: skip
    min_prunable_tool_chars: int = setting(
        "contextPruning.minPrunableToolChars", "int", 50_000, "Pruning",
        "Clear only when at least this many characters can go.",
        unit="chars", minimum=0, low=0, high=500_000, step=1000,
    )  # fmt: skip
    tools_allow: tuple[str, ...] = setting(
        "contextPruning.tools.allow", "texts", (), "Pruning", "Tools whose results may be pruned.",
    )  # fmt: skip
    tools_deny: tuple[str, ...] = setting(
        "contextPruning.tools.deny", "texts", (), "Pruning", "Tools whose results are never pruned.",
    )  # fmt: skip
    soft_trim_max_chars: int = setting(
        "contextPruning.softTrim.maxChars", "int", 4_000, "Pruning", "Longer results are trimmed.",
        unit="chars", minimum=0, low=0, high=50_000, step=100,
    )  # fmt: skip
    soft_trim_head_chars: int = setting(
        "contextPruning.softTrim.headChars", "int", 1_500, "Pruning", "Kept from the beginning.",
        unit="chars", minimum=0, low=0, high=20_000, step=100,
    )  # fmt: skip
    soft_trim_tail_chars: int = setting(
        "contextPruning.softTrim.tailChars", "int", 1_500, "Pruning", "Kept from the end.",
        unit="chars", minimum=0, low=0, high=20_000, step=100,
    )  # fmt: skip
    hard_clear_enabled: bool = setting(
        "contextPruning.hardClear.enabled", "bool", True, "Pruning", "Whether results are cleared at all.",
    )  # fmt: skip
    hard_clear_placeholder: str = setting(
        "contextPruning.hardClear.placeholder", "text", "[Old tool result content cleared]", "Pruning",
        "What stands in place of a cleared result.",
    )  # fmt: skip
    tool_result_max_chars: int | None = setting(
        "contextLimits.toolResultMaxChars", "int", None, "Tool results",
        "Cap of one tool result; by the window when unset.",
        unit="chars", minimum=1, maximum=250_000, low=1000, high=250_000, step=1000,
    )  # fmt: skip
    post_compaction_max_chars: int | None = setting(
        "contextLimits.postCompactionMaxChars", "int", None, "Compaction",
        "Most characters of AGENTS.md sections after a compaction.",
        unit="chars", minimum=1, maximum=50_000,
    )  # fmt: skip

    def changes(self, base: Policy) -> dict[str, Any]:
        """The settings that differ from ``base``, by key."""
        return {
            s.key: getattr(self, s.name)
            for s in SETTINGS
            if getattr(self, s.name) != getattr(base, s.name)
        }


def _settings() -> tuple[Setting, ...]:
    return tuple(replace(field.metadata["setting"], name=field.name) for field in fields(Policy))


SETTINGS = _settings()
BY_KEY = {s.key: s for s in SETTINGS}
MODEL_KEYS: Final = frozenset({"contextWindow", "maxTokens"})
"""Settings that stand in the model's entry, not below ``agents.defaults``."""


class PolicyError(ValueError):
    """Values that the policy does not take, by key."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = dict(problems)


def with_changes(base: Policy, values: Mapping[str, Any]) -> Policy:
    """``base`` with other values, given by key; text from forms and URLs is understood.

    Raises:
        PolicyError: with every value that is not accepted, and every unknown key.
    """
    accepted: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for key, value in values.items():
        known = BY_KEY.get(key)
        if known is None:
            problems[key] = f"{key}: there is no such setting."
            continue
        try:
            accepted[known.name] = known.read(value)
        except BadValue as error:
            problems[key] = str(error)
    if problems:
        raise PolicyError(problems)
    return replace(base, **accepted)
