"""Golden cases of what a session stores (spec pruning 7, 8 and 14)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from compaction_app.engine.pruning import caps, details, persist, redaction, tool_calls
from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.pruning.protocol import NOW_MS, Adapter, by_equality, encode, one


def sanitize_details(args: dict[str, Any], rules: RuleSet) -> Any:
    given = args.get("details")
    persisting = rules.pruning.persist
    kept = details.stored_details(
        given, redaction.redaction(args.get("logging")), persisting.details
    )
    if kept is given:
        return {"same": True, "details": {"$in": 0} if "details" in args else None}
    return {"same": False, "details": encode(kept)}


def cap_for_persistence(args: dict[str, Any], rules: RuleSet) -> Any:
    message = args["message"]
    secrets = redaction.redaction(args.get("logging"))
    capped = persist.capped_for_storage(message, args["maxChars"], rules.pruning.persist, secrets)
    return one(capped, message)


def _hook(beforeWrite: dict[str, Any] | None) -> Callable[[Any], Any] | None:
    """The test's hook: blocks or replaces messages by the text of their first text block."""
    if not beforeWrite:
        return None

    def hook(message: Any) -> Any:
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        text = next((b.get("text") for b in blocks if b.get("type") == "text"), None)
        if text is not None and text == beforeWrite.get("blockText"):
            return None
        old, new = beforeWrite.get("replaceText", (None, None))
        if text is not None and text == old:
            return {**message, "content": [{"type": "text", "text": new}]}
        return message

    return hook


def _run(
    ops: list[dict[str, Any]], options: persist.PersistOptions, skip_user: bool, rules: RuleSet
) -> dict[str, Any]:
    state = persist.PersistState(skip_next_user=skip_user)
    now: float = NOW_MS
    stored: list[Any] = []
    returned: list[bool] = []
    pending: list[list[str]] = []
    for op in ops:
        if "now" in op:
            now = op["now"]
            continue
        if "clear" in op:
            state = replace(state, pending={})
        else:
            if "append" in op:
                done = persist.persist_message(
                    op["append"], state, options, rules.pruning.persist, now
                )
                returned.append(done.stored)
            else:
                done = persist.flush_pending(state, options, rules.pruning.persist, now)
            state = done.state
            stored.extend(done.messages)
        pending.append(list(state.pending))
    given = [op["append"] for op in ops if "append" in op]
    rows = [
        {"$op": row["$in"]} if list(row) == ["$in"] else row for row in by_equality(stored, given)
    ]
    return {"stored": rows, "returned": returned, "pendingAfter": pending}


def session_guard(args: dict[str, Any], rules: RuleSet) -> Any:
    opts = args.get("opts") or {}
    options = persist.PersistOptions(
        max_chars=caps.storing_max_chars(opts, rules.pruning.caps),
        allow_synthetic_results=opts.get("allowSyntheticToolResults", True),
        missing_text=opts.get("missingToolResultText"),
        allowed_names=tool_calls.allowed_names(opts.get("allowedToolNames")),
        suppress_transcript_only=bool(opts.get("suppressTranscriptOnlyAssistantPersistence")),
        suppress_assistant_errors=bool(opts.get("suppressAssistantErrorPersistence")),
        before_write=_hook(opts.get("beforeWrite")),
    )
    skip_user = bool(opts.get("suppressNextUserMessagePersistence"))
    return _run(args["ops"], options, skip_user, rules)


def guarded_session(args: dict[str, Any], rules: RuleSet) -> Any:
    opts = args.get("opts") or {}
    config = opts.get("config") or {}
    logging = config.get("logging")
    cap = caps.session_max_chars(
        opts.get("contextWindowTokens"), config, opts.get("agentId"), rules.pruning.caps
    )
    hook = (
        (lambda message: persist.redacted_message(message, logging, rules.pruning.persist))
        if rules.pruning.persist.redacts
        else None
    )
    options = persist.PersistOptions(
        max_chars=cap,
        logging=logging,
        allow_synthetic_results=opts.get("allowSyntheticToolResults", True),
        missing_text=opts.get("missingToolResultText"),
        allowed_names=tool_calls.allowed_names(opts.get("allowedToolNames")),
        before_write=hook,
    )
    result = _run(args["ops"], options, False, rules)
    return {"stored": result["stored"], "returned": result["returned"]}


FUNCTIONS: dict[str, Adapter] = {
    "sanitizeToolResultDetailsForPersistence": sanitize_details,
    "capToolResultForPersistence": cap_for_persistence,
    "isTranscriptOnlyOpenClawAssistantMessage": lambda a, r: persist.is_transcript_only(
        a["message"]
    ),
    "installSessionToolResultGuard": session_guard,
    "guardSessionManager": guarded_session,
}
