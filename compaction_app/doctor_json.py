"""The doctor's report as JSON, for programs. Unknown figures are null, never 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from compaction_app.engine.diagnose import Finding
from compaction_app.engine.doctor.checks import Check
from compaction_app.engine.doctor.comparison import Comparison
from compaction_app.engine.doctor.effective import Effective
from compaction_app.engine.doctor.examination import Chain
from compaction_app.engine.doctor.outcomes import Outcome
from compaction_app.engine.doctor.report import AgentReport, Corrected
from compaction_app.engine.doctor.timing import Timing
from compaction_app.engine.lines import Line
from compaction_app.engine.replay import Totals


def report_json(report: AgentReport, changes: Sequence[Outcome]) -> dict[str, Any]:
    """One agent."""
    seen = report.examination
    around = seen.subject.around
    return {
        "agent": report.agent,
        "provider": around.provider or None,
        "model": around.model or None,
        "ruleSet": around.rules.id,
        "notice": report.notice or None,
        "settings": [_setting(each) for each in report.settings],
        "windows": [_chain(each) for each in seen.chains],
        "lines": [_line(each) for each in seen.subject.lines.lines],
        "flushBeforeCompaction": _timing(seen.timing),
        "flushBeforeCompactionMeasured": _timing(report.measured) if report.measured else None,
        "smallWindowProtection": {
            "active": seen.protection.is_active,
            "words": seen.protection.words,
        },
        "pruning": {"active": seen.pruning.is_active, "words": seen.pruning.words},
        "findings": [finding_json(each) for each in report.findings],
        "sessions": len(report.rows),
        "sessionFindings": [
            {"sessions": t.sessions, "examples": list(t.examples), **finding_json(t.finding)}
            for t in report.tallies
        ],
        "checks": [_check(each) for each in report.checks],
        "checkedSession": report.checked or None,
        "ruleSets": comparison_json(report.comparison),
        "corrected": _corrected(report.corrected),
        "outcomes": [_outcome(each) for each in changes],
        "replayedSessions": [case.identity for case in report.cases] if changes else [],
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding."""
    return {
        "code": finding.code,
        "severity": finding.severity,
        "session": finding.session or None,
        "agent": finding.agent or None,
        "line": finding.line,
        "numbers": dict(finding.numbers),
        "consequence": finding.consequence,
        "fix": dict(finding.fix),
    }


def comparison_json(compared: Comparison) -> list[dict[str, Any]]:
    """One object per row: what it is, its value by rule set, and why it differs."""
    return [
        {
            "what": row.title,
            "values": dict(zip(compared.rule_sets, row.values, strict=True)),
            "differs": row.differs,
            "why": row.why or None,
        }
        for row in compared.rows
    ]


def _setting(each: Effective) -> dict[str, Any]:
    value = list(each.value) if isinstance(each.value, tuple) else each.value
    return {
        "key": each.setting.key,
        "value": value,
        "unit": each.setting.unit or None,
        "source": each.source,
        "place": each.place,
        "note": each.note or None,
    }


def _chain(chain: Chain) -> dict[str, Any]:
    found = chain.resolution
    return {
        "title": chain.title,
        "tokens": found.tokens,
        "source": found.source,
        "why": chain.why,
        "trace": [asdict(step) for step in found.trace],
    }


def _timing(timing: Timing) -> dict[str, Any]:
    return {
        "answer": timing.answer,
        "words": timing.words,
        "flushLine": timing.flush.tokens,
        "triggers": [
            {
                "name": gap.trigger.name,
                "tokens": gap.trigger.tokens,
                "gap": gap.gap,
                "isConverted": gap.is_converted,
            }
            for gap in timing.gaps
        ],
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "name": line.name,
        "tokens": line.tokens,
        "unit": line.unit,
        "active": line.active,
        "reason": line.reason,
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "question": check.question,
        "steps": [asdict(step) for step in check.steps],
        "finding": finding_json(check.finding) if check.finding else None,
        "words": check.words or None,
    }


def _corrected(corrected: Corrected) -> dict[str, Any]:
    return {
        "changes": [
            {"key": each.key, "code": each.code, "words": each.words} for each in corrected.changes
        ],
        "text": corrected.text or None,
        "fault": corrected.fault or None,
        "left": [finding_json(each) for each in corrected.left],
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "change": outcome.correction.key if outcome.correction else None,
        "before": totals_json(outcome.before),
        "after": totals_json(outcome.after),
    }


def totals_json(totals: Totals) -> dict[str, Any]:
    """The totals of a replay, spelled as everywhere."""
    return {
        "calls": totals.calls,
        "flushes": totals.flushes,
        "compactions": totals.compactions,
        "flushedBefore": totals.flushed_before,
        "blocked": totals.blocked,
        "tokensSent": totals.tokens_sent,
        "tokensResent": totals.tokens_resent,
        "peak": totals.peak,
        "prunedCalls": totals.pruned,
    }
