"""The sections of AGENTS.md around a compaction (spec compaction 3.2, 4)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.compaction import agents_sections, post_context, workspace_rules
from compaction_app.engine.rule_sets import RuleSet

Args = dict[str, Any]


def _extract(args: Args, rules: RuleSet) -> Any:
    found = agents_sections.extract_sections(
        args["content"], args["names"], rules.compaction.sections
    )
    return {"sections": list(found.sections), "found": list(found.names)}


def refresh(args: Args, rules: RuleSet) -> str | None:
    return post_context.post_compaction_context(
        args["files"].get("AGENTS.md"),
        args["cfg"],
        args["nowMs"],
        rules.compaction.post_context,
        rules.compaction.sections,
        agent_id=args.get("agentId"),
    ).text


FUNCTIONS = {
    "extractSections": _extract,
    "matchesSectionSet": lambda a, _: agents_sections.matches_section_set(
        a["names"], a["expected"]
    ),
    "readPostCompactionContext": refresh,
    "readWorkspaceContextForSummary": lambda a, r: workspace_rules.workspace_rules_section(
        a["files"].get("AGENTS.md"), a["sectionNames"], r.compaction.sections
    ),
}
