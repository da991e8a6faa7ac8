"""Subagents (spec compaction 7)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.subagent import announce, completion, output, prompt_outline, spawn

Args = dict[str, Any]


def _name(args: Args, _: RuleSet) -> Any:
    found = spawn.task_name(args.get("value"))
    if found.error is not None:
        return {"error": found.error}
    return {} if found.name is None else {"taskName": found.name}


def _outline(args: Args, _: RuleSet) -> Any:
    found = prompt_outline.subagent_prompt_outline(
        args["childSessionKey"],
        depth=args.get("childDepth", 1),
        max_depth=args.get("maxSpawnDepth", spawn.DEFAULT_MAX_DEPTH),
        label=args.get("label"),
        requester_key=args.get("requesterSessionKey"),
        requester_channel=(args.get("requesterOrigin") or {}).get("channel"),
    )
    return {
        "headings": list(found.headings),
        "rules": list(found.rules),
        "sessionContext": [*found.session_lines, ""],
        "parent": found.parent,
    }


FUNCTIONS = {
    "subagentInitialMessage": lambda a, _: spawn.initial_message(
        a.get("task") or "",
        a["childDepth"],
        a["maxSpawnDepth"],
        persistent=bool(a.get("persistentSession")),
    ),
    "subagentTaskName": _name,
    "subagentSpawnMode": lambda a, _: spawn.spawn_mode(
        a.get("requestedMode"), thread_requested=bool(a["threadRequested"])
    ),
    "subagentSystemPromptOutline": _outline,
    "stripAndClassifyReply": lambda a, r: announce.clean_reply(a["text"], r.silent_reply),
    "isAnnounceSkip": lambda a, _: announce.skips_announcement(a["text"]),
    "wakeRun": lambda a, _: {
        "is": announce.is_wake_run(a["runId"]),
        "base": announce.base_run(a["runId"]),
    },
    "taskCompletionEvent": lambda a, _: completion.completion_block(a["events"]),
    "childFindings": lambda a, _: completion.child_findings(a["children"]),
    "subagentOutput": lambda a, r: output.subagent_output(a["messages"], r.silent_reply),
    "announceNumbers": lambda a, _: {
        "duration": [announce.duration_text(ms) for ms in a["ms"]],
        "tokens": [announce.tokens_text(tokens) for tokens in a["tokens"]],
    },
}
