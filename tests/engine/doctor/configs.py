"""Configurations that the doctor is shown."""

from __future__ import annotations

from typing import Final

from compaction_app.engine.diagnose import Finding
from compaction_app.engine.doctor.report import (
    AgentReport,
    Configuration,
    agent_report,
    read_configuration,
)
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RuleSet

ILL: Final = """// my agent
{
  models: {providers: {acme: {baseUrl: 'http://x', contextWindow: 64000,
    models: [{id: 'm', name: 'm', contextWindow: 96000}]}}},
  agents: {
    defaults: {
      contextTokens: 128000, // the cap
      compaction: { reserveTokens: "62500", keep_recent_tokens: 5000, enabled: true },
      contextPruning: { ttl: '5y' },
    },
    list: [{id: 'main'}, {id: 'ops', contextLimits: {toolResultMaxChars: 9000}}],
  },
}
"""
HEALTHY: Final = """{
  models: {providers: {acme: {baseUrl: 'http://x',
    models: [{id: 'm', name: 'm', contextWindow: 200000}]}}},
}
"""


def read(text: str, rules: RuleSet = DEFAULT_RULE_SET) -> Configuration:
    return read_configuration(text, rules)


def report(text: str, agent: str = "main", rules: RuleSet = DEFAULT_RULE_SET) -> AgentReport:
    return agent_report(read(text, rules), agent, rules)


def codes(found: tuple[Finding, ...]) -> list[str]:
    return [finding.code for finding in found]
