"""Where the boundary of a finished compaction lies, and what a new transcript takes over (spec compaction 3.8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction_app.engine.compaction.cut import last_compaction
from compaction_app.engine.compaction.duplicate_asks import duplicate_asks
from compaction_app.engine.decision import Decision
from sessions_app.tokens import javascript as js

STATE_TYPES = ("model_change", "thinking_level_change", "session_info")
TOKENS_AFTER_TOLERANCE = 1.1

Entry = Mapping[str, Any]


def hardens_boundary(
    branch: Sequence[Entry],
    compaction_id: str,
    *,
    manual: bool,
    configured_keep: object,
    rule_set: str,
) -> Decision:
    """Whether a compaction keeps nothing: its first kept entry becomes the compaction itself.

    So does ``/compact`` without a configured ``keepRecentTokens``, when it summarised anything.
    """
    at = next((i for i, e in enumerate(branch) if e.get("id") == compaction_id), None)
    compaction = None if at is None else branch[at]
    if compaction is None:
        reason = "compaction_not_found"
    elif not manual:
        reason = "not_manual"
    elif js.is_number(configured_keep):
        reason = "keep_recent_tokens_configured"
    elif js.is_blank(str(compaction.get("summary") or "")):
        reason = "blank_summary"
    elif not any(e.get("type") == "message" for e in branch[: _first_kept(branch, at or 0)]):
        reason = "nothing_summarised"
    else:
        reason = "manual_boundary"
    fired = reason == "manual_boundary"
    outcome = "harden" if fired else "keep"
    return Decision("manual_boundary", fired, outcome, reason, rule_set)


def tokens_after(
    estimated: float, observed: float | None, estimated_before: float | None
) -> float | None:
    """The tokens that remain, unless they contradict what was there before."""
    if observed is not None:
        return None if estimated > observed else estimated
    if estimated_before is not None and estimated > TOKENS_AFTER_TOLERANCE * estimated_before:
        return None
    return estimated


def successor_entries(branch: Sequence[Entry], everything: Sequence[Entry]) -> list[Entry]:
    """The entries a new transcript starts with after a compaction, the active branch last.

    Left out: summarised messages, state that was changed again, repeated asks, and labels of what is
    left out. Parents are moved to the nearest entry that is still there.
    """
    at = last_compaction(branch)
    if at is None:
        return list(everything)
    left_out = set(_left_out(branch, at))
    everything = everything or branch
    left_out |= {
        e.get("id")
        for e in everything
        if e.get("type") == "label" and e.get("targetId") in left_out
    }
    active = {entry.get("id") for entry in branch}
    others = (entry for entry in everything if entry.get("id") not in active)
    parents = {entry.get("id"): entry.get("parentId") for entry in (*everything, *branch)}
    kept = [entry for entry in (*others, *branch) if entry.get("id") not in left_out]
    return [{**entry, "parentId": _ancestor(entry, parents, left_out)} for entry in kept]


def successor_name(timestamp: str, session_id: str) -> str:
    """The file name of the new transcript, for an ISO timestamp."""
    return f"{timestamp.replace(':', '-').replace('.', '-')}_{session_id}.jsonl"


def _left_out(branch: Sequence[Entry], at: int) -> Iterator[Any]:
    first_kept = _first_kept(branch, at)
    latest = {entry.get("type"): i for i, entry in enumerate(branch[:at])}
    for i, entry in enumerate(branch[:at]):
        kind = entry.get("type")
        if (kind == "message" and i < first_kept) or (kind in STATE_TYPES and latest[kind] != i):
            yield entry.get("id")
    asks = [(e.get("id"), e["message"]) for e in branch[first_kept:] if e.get("type") == "message"]
    for i in duplicate_asks([message for _, message in asks]):
        yield asks[i][0]


def _first_kept(branch: Sequence[Entry], at: int) -> int:
    """The first entry a compaction keeps; the compaction itself when it keeps nothing."""
    wanted = branch[at].get("firstKeptEntryId")
    return next((i for i, e in enumerate(branch[:at]) if e.get("id") == wanted), at)


def _ancestor(entry: Entry, parents: Mapping[Any, Any], left_out: set[Any]) -> Any:
    parent = entry.get("parentId")
    while parent in left_out:
        parent = parents.get(parent)
    return parent
