"""Reports about a prompt (spec compaction 5.5, 5.7)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.composition import (
    bootstrap_files,
    bootstrap_report,
    context_reply,
    prompt_outline,
    prompt_report,
)
from compaction_app.engine.rule_sets import RuleSet

Args = dict[str, Any]


def _report(args: Args, _: RuleSet) -> Any:
    files = [
        bootstrap_files.WorkspaceFile(
            f["name"], f.get("path") or "", f.get("content"), bool(f.get("missing"))
        )
        for f in args["bootstrapFiles"]
    ]
    injected = [
        bootstrap_files.InjectedFile(f["path"], f["content"]) for f in args["injectedFiles"]
    ]
    run = prompt_report.ReportedRun(
        provider=args.get("provider"),
        model=args.get("model"),
        workspace_dir=args.get("workspaceDir"),
        max_chars=args.get("bootstrapMaxChars"),
        total_max_chars=args.get("bootstrapTotalMaxChars"),
    )
    stats = bootstrap_report.file_stats(files, injected)
    return prompt_report.prompt_report(
        run, args["systemPrompt"], args.get("skillsPrompt") or "", stats, args["tools"]
    )


def _outline(args: Args, _: RuleSet) -> Any:
    params = args["params"]
    tools = params.get("toolNames") or ()
    found = prompt_outline.prompt_outline(
        prompt_outline.PromptParts(
            mode=params.get("promptMode") or "full",
            context_paths=tuple(file["path"] for file in params.get("contextFiles") or ()),
            has_skills=bool(params.get("skillsPrompt")),
            has_memory="memory_search" in tools,
            has_model_aliases=bool(params.get("modelAliasLines")),
            has_sandbox=bool((params.get("sandboxInfo") or {}).get("enabled")),
            has_owners=bool(params.get("ownerNumbers")),
            has_time_zone=bool(params.get("userTimezone")),
            reasoning_format=bool(params.get("reasoningTagHint")),
            has_voice=bool(params.get("ttsHint")),
            has_extra_prompt=bool(params.get("extraSystemPrompt")),
            has_reactions=bool(params.get("reactionGuidance")),
            has_heartbeat=bool(params.get("heartbeatPrompt")),
        )
    )
    boundary = bool(found.below)
    return {
        "boundary": boundary,
        "aboveBoundary": list(found.above),
        "belowBoundary": list(found.below),
        "around": ["\n\n", "\n\n"] if boundary else None,
    }


FUNCTIONS = {
    "buildSystemPromptReport": _report,
    "projectContextChars": lambda a, _: prompt_report.project_context_chars(a["systemPrompt"]),
    "systemPromptOutline": _outline,
    "contextReply": lambda a, _: context_reply.context_reply(
        a["command"], a["sessionEntry"], a.get("contextTokens")
    ),
}
