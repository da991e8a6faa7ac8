"""Golden cases of rewritten sessions (spec pruning 6)."""

from __future__ import annotations

from typing import Any, Literal

from compaction_app.engine.pruning import session_rewrite
from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.pruning.protocol import Adapter, encode


def _stored(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Entries with the ids and parents that the cases leave out."""
    entries: list[dict[str, Any]] = []
    for index, entry in enumerate(given):
        parent = entries[-1]["id"] if entries else None
        entries.append({"id": f"e{index}", "parentId": parent, **entry})
    return entries


def _rewrite(
    args: dict[str, Any], rules: RuleSet, where: Literal["file", "open_session"]
) -> tuple[dict[str, Any], session_rewrite.RewrittenSession]:
    entries = _stored(args["entries"])
    overrides = {**args, **(args.get("overrides") or {})}
    done = session_rewrite.rewrite_session(
        entries,
        args["contextWindowTokens"],
        rules.pruning.session_rewrite,
        new_ids=(f"n{index}" for index in range(10**6)),
        timestamp="",
        where=where,
        single_cap_chars=overrides.get("maxCharsOverride"),
        aggregate_cap_chars=overrides.get("aggregateMaxCharsOverride"),
    )
    result: dict[str, Any] = {"truncated": done.truncated, "truncatedCount": done.truncated_count}
    if done.reason is not None:
        result["reason"] = done.reason
    file: list[Any] = [{"$same": entry["id"]} for entry in entries]
    if done.written:
        appended = ({k: v for k, v in new.items() if k != "timestamp"} for new in done.appended)
        file.extend(map(encode, appended))
    return {"result": result, "file": file}, done


def in_file(args: dict[str, Any], rules: RuleSet) -> Any:
    return _rewrite(args, rules, "file")[0]


def in_open_session(args: dict[str, Any], rules: RuleSet) -> Any:
    answer, done = _rewrite(args, rules, "open_session")
    return {**answer, "branch": list(done.branch)}


FUNCTIONS: dict[str, Adapter] = {
    "truncateOversizedToolResultsInSession": in_file,
    "truncateOversizedToolResultsInSessionManager": in_open_session,
}
