"""A session's active branch appended again with its tool results cut.

Session files only grow: the leaf moves to the parent of the first result that was cut, and everything
from there on is appended again under new ids. The old entries stay where they are, so a reader that
counts lines sees compactions twice (spec pruning 6, profiles 2.7).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from compaction_app.engine.pruning.change import Change
from compaction_app.engine.pruning.recovery import ReductionPlan, plan_reduction
from compaction_app.engine.pruning.recovery_rules import (
    RECOVERY_2026_3,
    RECOVERY_2026_4_20,
    RECOVERY_2026_5_28,
    RECOVERY_2026_9,
    RecoveryRules,
)
from sessions_app.tokens import javascript as js

EMPTY_SESSION: Final = "empty session"
Entry = Mapping[str, Any]
Where = Literal["file", "open_session"]


@dataclass(frozen=True, slots=True)
class SessionRewriteRules:
    """How a version appends a branch again.

    ``remaps_ids``: whether references to re-appended entries follow them, and labels and branch
    summaries are kept at all. ``appends_to_file``: whether the rewrite of a closed session writes its
    lines itself; otherwise, as through an open session, nothing is written while the session has no
    assistant message.
    """

    recovery: RecoveryRules
    remaps_ids: bool
    appends_to_file: bool


SESSION_REWRITE_2026_3: Final = SessionRewriteRules(
    recovery=RECOVERY_2026_3, remaps_ids=False, appends_to_file=False
)
SESSION_REWRITE_2026_4_20: Final = SessionRewriteRules(
    recovery=RECOVERY_2026_4_20, remaps_ids=True, appends_to_file=False
)
SESSION_REWRITE_2026_5_28: Final = SessionRewriteRules(
    recovery=RECOVERY_2026_5_28, remaps_ids=True, appends_to_file=True
)
SESSION_REWRITE_2026_9: Final = replace(SESSION_REWRITE_2026_5_28, recovery=RECOVERY_2026_9)


@dataclass(frozen=True, slots=True)
class RewrittenSession:
    """What the rewrite did.

    ``appended`` are the new entries in file order; ``written`` whether they reach the file (they are
    in memory either way); ``branch`` the ids from the root to the leaf afterwards; ``reason`` why
    nothing was cut. Changes name the entry that was replaced.
    """

    truncated_count: int
    appended: tuple[dict[str, Any], ...]
    written: bool
    branch: tuple[str, ...]
    reason: str | None = None
    changes: tuple[Change, ...] = ()

    @property
    def truncated(self) -> bool:
        return self.truncated_count > 0


def active_branch(entries: Sequence[Entry], leaf_id: str | None = None) -> list[Entry]:
    """The entries from the root to the leaf, which is the last entry unless another is named."""
    by_id = {entry["id"]: entry for entry in entries}
    current = by_id.get(leaf_id) if leaf_id else (entries[-1] if entries else None)
    branch: list[Entry] = []
    seen: set[str] = set()
    while current is not None and current["id"] not in seen:
        seen.add(current["id"])
        branch.append(current)
        current = by_id.get(current.get("parentId") or "")
    return branch[::-1]


def rewrite_session(
    entries: Sequence[Entry],
    window_tokens: float,
    rules: SessionRewriteRules,
    *,
    new_ids: Iterator[str],
    timestamp: str,
    where: Where = "file",
    single_cap_chars: float | None = None,
    aggregate_cap_chars: float | None = None,
) -> RewrittenSession:
    """Cut the tool results of the active branch by appending it again.

    Args:
        new_ids: the ids of the new entries, in order.
        timestamp: what the new entries carry.
        where: whether a closed session's file or an open session is rewritten.
    """
    branch = active_branch(entries)
    ids = tuple(str(entry["id"]) for entry in branch)
    if not branch:
        return RewrittenSession(0, (), False, ids, EMPTY_SESSION)
    plan = plan_reduction(
        [entry.get("message") if entry.get("type") == "message" else None for entry in branch],
        window_tokens,
        rules.recovery,
        single_cap_chars=single_cap_chars,
        aggregate_cap_chars=aggregate_cap_chars,
    )
    if not plan.replacements:
        return RewrittenSession(0, (), False, ids, rules.recovery.nothing_to_do)
    return _appended(entries, branch, plan, rules, Appender(rules, new_ids, timestamp), where)


def _appended(
    entries: Sequence[Entry],
    branch: Sequence[Entry],
    plan: ReductionPlan,
    rules: SessionRewriteRules,
    appender: Appender,
    where: Where,
) -> RewrittenSession:
    """The branch from the first replaced entry on, appended again."""
    ids = tuple(str(entry["id"]) for entry in branch)
    first = min(plan.replacements)
    appender.start(entries, ids[first - 1] if first else None)
    for position in range(first, len(branch)):
        appender.append(branch[position], plan.replacements.get(position))
        if appender.missing is not None:
            return RewrittenSession(0, (), False, ids, f"Entry {appender.missing} not found")
    talked = any(map(_is_assistant, (*entries, *appender.out)))
    return RewrittenSession(
        truncated_count=len(plan.replacements),
        appended=tuple(appender.out),
        written=talked or (where == "file" and rules.appends_to_file),
        branch=(*ids[:first], *(entry["id"] for entry in appender.out)),
        changes=tuple(replace(made, position=ids[int(made.position)]) for made in plan.changes),
    )


def _is_assistant(entry: Entry) -> bool:
    message = entry.get("message") if entry.get("type") == "message" else None
    return isinstance(message, Mapping) and message.get("role") == "assistant"


def is_left_out(entry: Entry) -> bool:
    """Whether a version that keeps no references does not append an entry again."""
    kind = entry.get("type")
    unnamed = kind == "session_info" and not entry.get("name")
    return kind in ("branch_summary", "label") or unnamed


_COPIED: Final[Mapping[str, tuple[str, ...]]] = {
    "compaction": ("summary", "firstKeptEntryId", "tokensBefore", "details", "fromHook"),
    "branch_summary": ("fromId", "summary", "details", "fromHook"),
    "custom": ("customType", "data"),
    "custom_message": ("customType", "content", "display", "details"),
    "thinking_level_change": ("thinkingLevel",),
    "model_change": ("provider", "modelId"),
    "session_info": ("name",),
    "label": ("targetId", "label"),
}


class Appender:
    """Appends entries of a branch again, each the child of the one before; ``out`` are the new ones."""

    def __init__(self, rules: SessionRewriteRules, new_ids: Iterator[str], timestamp: str) -> None:
        self.rules, self.new_ids, self.timestamp = rules, new_ids, timestamp
        self.leaf: str | None = None
        self.known: set[str] = set()
        self.moved: dict[str, str] = {}
        self.out: list[dict[str, Any]] = []
        self.missing: str | None = None

    def start(self, entries: Sequence[Entry], leaf: str | None) -> None:
        """Go on behind ``leaf`` in a file that holds ``entries``."""
        self.known, self.leaf = {str(entry["id"]) for entry in entries}, leaf

    def append(self, entry: Entry, message: Any) -> None:
        """Append ``entry`` again, with ``message`` in place of its own where one is given."""
        kind = entry.get("type")
        if not self.rules.remaps_ids and is_left_out(entry):
            return
        new_id = next(self.new_ids)
        new: dict[str, Any] = {"type": kind, "id": new_id, "parentId": self.leaf}
        new["timestamp"] = self.timestamp
        if kind == "message":
            new["message"] = entry.get("message") if message is None else message
        else:
            new |= self.fields(entry)
        if kind == "label" and new.get("targetId") not in self.known:
            self.missing = str(new.get("targetId"))
        self.moved[entry["id"]] = self.leaf = new_id
        self.known.add(new_id)
        self.out.append(new)

    def fields(self, entry: Entry) -> dict[str, Any]:
        """What an entry that is no message says again, references following what was moved."""
        kind = str(entry.get("type"))
        names = _COPIED.get(kind) or tuple(
            name for name in entry if name not in ("type", "id", "parentId", "timestamp")
        )
        fields = {name: entry[name] for name in names if name in entry}
        if kind == "session_info":
            name = entry.get("name")
            fields["name"] = js.trim(name) if isinstance(name, str) else ""
        if kind == "branch_summary":
            fields["fromId"] = self.leaf or "root"
        for name in ("firstKeptEntryId", "targetId") if self.rules.remaps_ids else ():
            if name in fields:
                fields[name] = self.moved.get(fields[name], fields[name])
        return fields
