"""All that the doctor says of one agent's settings, and of one session under them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.diagnose import Finding, Subject, by_consequence, findings
from compaction_app.engine.doctor.checks import Check, guided_checks
from compaction_app.engine.doctor.effective import Effective, effective_settings
from compaction_app.engine.doctor.states import State, pruning_status, window_protection
from compaction_app.engine.doctor.timing import Timing, flush_timing
from compaction_app.engine.lines import lines_of
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.session_policy import session_policy
from compaction_app.engine.window import WindowResolution

SOURCE_WORDS: Final[Mapping[str, str]] = {
    "contextTokensOverride": "agents.defaults.contextTokens",
    "agentContextTokens": "agents.defaults.contextTokens",
    "modelsConfig": "the model's own entry below models.providers",
    "model": "the runtime's own model object",
    "anthropic1m": "the rule for Claude models of a million tokens",
    "fallbackContextTokens": "what the caller falls back on",
}
"""Names of sources that say little by themselves."""


@dataclass(frozen=True, slots=True)
class Chain:
    """One of the three resolutions of the window: who asks, and why its answer won."""

    title: str
    resolution: WindowResolution
    why: str


@dataclass(frozen=True, slots=True)
class Examination:
    """One subject, explained."""

    subject: Subject
    chains: tuple[Chain, ...]
    timing: Timing
    protection: State
    pruning: State
    findings: tuple[Finding, ...]
    checks: tuple[Check, ...]


def subject_of(
    config: Mapping[str, Any],
    agent: str,
    rules: RuleSet,
    provider: str = "",
    model: str = "",
    entry: Mapping[str, Any] | None = None,
) -> tuple[Subject, tuple[Finding, ...]]:
    """The settings of an agent as a subject without a recording, and the values that are refused."""
    known = session_policy(config, entry or {}, provider, model, rules, agent)
    subject = Subject(
        known.policy, known.around, lines_of(known.policy, known.around), entry=entry or None
    )
    return subject, tuple(Finding("CONFIG_INVALID", problem) for problem in known.problems)


def examine(subject: Subject) -> Examination:
    """Everything about one subject; with a recording its findings are in it."""
    found = by_consequence(findings(subject))
    lines = subject.lines
    return Examination(
        subject=subject,
        chains=(
            _chain("Memory flush and preflight", lines.flush_window),
            _chain("Runs, pruning and compaction", lines.run_window),
            _chain("Replies and status", lines.reply_window),
        ),
        timing=flush_timing(subject, found),
        protection=window_protection(lines, subject.around),
        pruning=pruning_status(subject.policy, subject.around),
        findings=tuple(found),
        checks=guided_checks(subject, found),
    )


def settings_of(subject: Subject, config: Mapping[str, Any], agent: str) -> tuple[Effective, ...]:
    """The settings in force for an agent, by the file as it is."""
    around = subject.around
    return effective_settings(config, around.provider, around.model, agent, around.rules)


def _chain(title: str, found: WindowResolution) -> Chain:
    return Chain(title, found, f"{_why(found)}.")


def _why(found: WindowResolution) -> str:
    name = SOURCE_WORDS.get(found.source or "", found.source or "")
    cap = next((step for step in found.trace if step.verdict == "caps"), None)
    if cap is not None:
        base = next((step.said for step in found.trace if step.verdict == "wins"), None)
        return f"{name} is lower than the {_number(found.reference_tokens or base)} before it, and caps it"
    if found.source == "default":
        return "No source names the window, so the default is assumed"
    passed = [step for step in found.trace if step.verdict in ("silent", "ignored")]
    if not passed:
        return f"{name} decides: it is asked first"
    sources = f"{len(passed)} source{'s' if len(passed) > 1 else ''}"
    return f"{name} decides: the {sources} asked before had no usable answer"


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else "value"
