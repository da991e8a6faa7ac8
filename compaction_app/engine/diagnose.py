"""The verdict: what is wrong with a configuration for this session, by stable code.

The state at rest is judged, like with like: billed with billed, estimate with estimate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.reasons import sentence
from sessions_app.timeline import Timeline

Severity = Literal["grave", "warn", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``numbers`` are the figures compared; ``fix`` the settings to change, by key."""

    code: str
    severity: Severity
    consequence: str
    numbers: Mapping[str, int | float | str] = field(default_factory=dict)
    fix: Mapping[str, Any] = field(default_factory=dict)


def findings(grown: Timeline, policy: Policy, lines: Lines) -> list[Finding]:
    """What there is to say, gravest first."""
    order = {"grave": 0, "warn": 1, "info": 2}
    found = [*_of_window(policy, lines), *_of_reserve(lines), *_of_flush(lines), *_of_usage(grown)]
    return sorted(found, key=lambda finding: order[finding.severity])


def _of_window(policy: Policy, lines: Lines) -> Iterator[Finding]:
    flush, run = lines.flush_window, lines.run_window
    if lines.guard.should_warn or lines.guard.should_block:
        blocks = lines.guard.should_block
        yield Finding(
            "WINDOW_TOO_SMALL",
            "grave",
            f"The window of {lines.window:,} tokens is too small: "
            + ("no model call is made." if blocks else "the runtime warns at every start."),
            {"contextWindow": lines.window, "warnBelow": lines.guard.thresholds.warn},
        )
    if run.source == "default" or (
        run.source == "agentContextTokens" and not policy.context_window
    ):
        yield Finding(
            "WINDOW_ASSUMED",
            "warn",
            f"No source names the model's window; {lines.window:,} tokens are assumed.",
            {"contextWindow": lines.window},
            {"contextWindow": lines.window},
        )
    if flush.tokens != run.tokens:
        yield Finding(
            "WINDOW_MISMATCH",
            "warn",
            f"Memory flush and preflight judge by a window of {flush.tokens:,} tokens, runs by "
            f"{run.tokens:,}.",
            {"flushWindow": flush.tokens or 0, "runWindow": run.tokens or 0},
            {"contextTokens": None},
        )


def _of_reserve(lines: Lines) -> Iterator[Finding]:
    reserve = lines.settings.reserve_tokens
    if reserve >= lines.window:
        yield Finding(
            "COMPACTS_FROM_FIRST_TOKEN",
            "grave",
            f"The reserve of {reserve:,.0f} tokens takes the whole window of {lines.window:,}.",
            {"reserveTokens": reserve, "contextWindow": lines.window},
            {
                "compaction.reserveTokens": lines.window // 4,
                "compaction.reserveTokensFloor": lines.window // 4,
            },
        )


def _of_flush(lines: Lines) -> Iterator[Finding]:
    line = lines.named("flush")
    if line.reason in ("memory_flush_disabled", "workspace_not_writable", "cli_backend") or (
        line.reason == "window_too_small_for_flush"
    ):
        yield Finding(
            "FLUSH_DISABLED",
            "warn",
            f"Nothing is written to memory before a compaction: {sentence(line.reason)}.",
            {"flushLine": line.tokens},
            {"compaction.memoryFlush.enabled": True}
            if line.reason == "memory_flush_disabled"
            else {"compaction.reserveTokensFloor": lines.window // 8},
        )


def _of_usage(grown: Timeline) -> Iterator[Finding]:
    missing = int(grown.is_estimate.sum())
    if grown.calls and missing == grown.calls:
        yield Finding(
            "USAGE_MISSING",
            "info",
            f"The provider reported no usage for any of {grown.calls} calls; the curve is an estimate.",
            {"calls": grown.calls},
        )
