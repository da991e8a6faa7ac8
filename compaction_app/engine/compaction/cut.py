"""Where a compaction cuts a session: which entries it summarises and which it keeps word for word.

The cut is looked for from the newest entry backwards until ``keepRecentTokens`` are collected; it may
never fall on a tool result, so a result stays with the call that made it (spec compaction 2).

Entries are the plain JSON entries of the active branch, in order. Positions are indices into that
list; ranges are half open. Everything here costs the length of the kept tail, not of the session,
except the search for the last compaction and for the first cut point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compaction_app.engine.decision import Decision, Step

Entry = Mapping[str, Any]
TokensAt = Callable[[int], int]
"""Estimated tokens of what the entry at an index puts before the model."""

CUT_ROLES = frozenset(
    {"user", "assistant", "bashExecution", "custom", "branchSummary", "compactionSummary"}
)
CUT_TYPES = frozenset({"branch_summary", "custom_message"})
TURN_ROLES = frozenset({"user", "bashExecution"})

INNER_TYPES = frozenset({"custom_message", "branch_summary"})


@dataclass(frozen=True, slots=True)
class CutRules:
    """What differs by version.

    ``counts_inner``: custom messages and branch summaries count towards the kept tokens.
    ``turn_roles``: the roles of messages that begin a turn. ``any_turn_start``: a tail that begins with
    any of those, and not only with a user's message, splits no turn. ``looks_back``: where no cut is
    allowed behind the place at which enough is kept, the nearest one before it is taken and not the
    first.
    """

    counts_inner: bool = False
    turn_roles: frozenset[str] = TURN_ROLES
    any_turn_start: bool = False
    looks_back: bool = False


CUT_2026_5_28 = CutRules()
CUT_2026_9 = CutRules(
    counts_inner=True,
    turn_roles=TURN_ROLES | {"custom"},
    any_turn_start=True,
    looks_back=True,
)

CutReason = Literal["kept_enough", "all_kept", "no_cut_point_behind", "no_cut_point"]


@dataclass(frozen=True, slots=True)
class CutPoint:
    """The first kept entry of a range, and the turn it falls into.

    ``reason``: ``kept_enough`` (``keepRecentTokens`` were collected), ``all_kept`` (the range holds
    fewer), ``no_cut_point_behind`` (they were collected inside a trailing tool result, so everything is
    kept) or ``no_cut_point``. ``reached_index`` is the entry at which enough was collected, ``valid``
    the first allowed cut from there, before entries that are no messages were drawn in.
    ``turn_start_index`` is -1 when the cut starts a turn or no turn start was found.
    """

    first_kept_index: int
    turn_start_index: int
    is_split_turn: bool
    reason: CutReason
    collected_tokens: int
    reached_index: int | None
    valid: int | None

    @property
    def history_end(self) -> int:
        """Where the summarised history ends; from here to the cut lies the prefix of a split turn."""
        return self.turn_start_index if self.is_split_turn else self.first_kept_index


@dataclass(frozen=True, slots=True)
class CompactionCut:
    """What a compaction of a branch takes and leaves, as index ranges.

    ``previous_index`` is the last compaction entry on the branch; what it already summarised lies
    before ``history.start``. ``history`` and ``turn_prefix`` are summarised, ``kept`` stays.
    Without a cut (``decision.fired`` false) the three ranges are empty and ``cut`` is none.
    """

    decision: Decision
    previous_index: int | None
    history: range
    turn_prefix: range
    kept: range
    cut: CutPoint | None


def message_role(entry: Entry) -> Any:
    """The role of a message entry; none for every other type of entry."""
    if entry.get("type") != "message":
        return None
    message = entry.get("message")
    return message.get("role") if isinstance(message, Mapping) else None


def is_cut_point(entry: Entry) -> bool:
    """Whether the kept tail may begin with this entry: never with a tool result."""
    return entry.get("type") in CUT_TYPES or message_role(entry) in CUT_ROLES


def valid_cut_points(entries: Sequence[Entry], start: int, end: int) -> Iterator[int]:
    return (i for i in range(start, end) if is_cut_point(entries[i]))


def begins_turn(entry: Entry, rules: CutRules) -> bool:
    return entry.get("type") in CUT_TYPES or message_role(entry) in rules.turn_roles


def find_turn_start(
    entries: Sequence[Entry], index: int, start: int, rules: CutRules = CUT_2026_5_28
) -> int:
    """The nearest entry at or before ``index``, not before ``start``, that begins a turn; else -1."""
    return next((i for i in range(index, start - 1, -1) if begins_turn(entries[i], rules)), -1)


def find_cut_point(
    entries: Sequence[Entry],
    start: int,
    end: int,
    keep_recent_tokens: float,
    tokens_at: TokensAt,
    rules: CutRules = CUT_2026_5_28,
) -> CutPoint:
    """The cut in ``[start, end)`` that keeps about ``keep_recent_tokens``.

    Mostly only message entries count towards the tokens: custom messages and branch summaries are free.
    """
    reached, collected = _walk_back(entries, start, end, keep_recent_tokens, tokens_at, rules)
    first = next(valid_cut_points(entries, start, end), None)
    if first is None:
        return CutPoint(start, -1, False, "no_cut_point", collected, reached, None)
    reason: CutReason = "all_kept"
    valid = first
    if reached is not None:
        behind = next(valid_cut_points(entries, reached, end), None)
        valid = (
            _without_cut_behind(entries, start, reached, first, rules) if behind is None else behind
        )
        reason = "no_cut_point_behind" if behind is None else "kept_enough"
    cut = _draw_in(entries, start, valid)
    turn_start = -1
    own = message_role(entries[cut]) == "user"
    if not own and not (rules.any_turn_start and begins_turn(entries[cut], rules)):
        turn_start = find_turn_start(entries, cut, start, rules)
    return CutPoint(cut, turn_start, turn_start >= 0, reason, collected, reached, valid)


def _without_cut_behind(
    entries: Sequence[Entry], start: int, reached: int, first: int, rules: CutRules
) -> int:
    if not rules.looks_back:
        return first
    return max(valid_cut_points(entries, start, reached), default=first)


def _walk_back(
    entries: Sequence[Entry],
    start: int,
    end: int,
    keep: float,
    tokens_at: TokensAt,
    rules: CutRules,
) -> tuple[int | None, int]:
    counted = {"message", *(INNER_TYPES if rules.counts_inner else ())}
    collected = 0
    for i in range(end - 1, start - 1, -1):
        if entries[i].get("type") not in counted:
            continue
        collected += tokens_at(i)
        if collected >= keep:
            return i, collected
    return None, collected


def _draw_in(entries: Sequence[Entry], start: int, cut: int) -> int:
    """Labels, model changes and the like that stand right before the cut belong to the kept side."""
    while cut > start and entries[cut - 1].get("type") not in ("compaction", "message"):
        cut -= 1
    return cut


def cut_for_compaction(
    entries: Sequence[Entry],
    keep_recent_tokens: float,
    tokens_at: TokensAt,
    rule_set: str,
    rules: CutRules = CUT_2026_5_28,
) -> CompactionCut:
    """Which entries of the branch a compaction would summarise now, and which it would keep.

    Nothing to do (``fired`` false) for an empty branch, ``empty_session``, and for one that ends
    with a compaction, ``already_compacted``. ``invalid_session``: the first kept entry has no id, so
    that no boundary can be written.
    """
    end = len(entries)
    if not entries:
        return no_cut("empty_session", None, rule_set)
    previous = last_compaction(entries)
    if previous == end - 1:
        return no_cut("already_compacted", previous, rule_set)
    start = 0 if previous is None else range_start(entries, previous)
    cut = find_cut_point(entries, start, end, keep_recent_tokens, tokens_at, rules)
    first_kept = cut.first_kept_index
    if not entries[first_kept].get("id"):
        return no_cut("invalid_session", previous, rule_set)
    return CompactionCut(
        decision=cut_decision(start, end, keep_recent_tokens, cut, rule_set),
        previous_index=previous,
        history=range(start, cut.history_end),
        turn_prefix=range(cut.history_end, first_kept),
        kept=range(first_kept, end),
        cut=cut,
    )


def last_compaction(entries: Sequence[Entry]) -> int | None:
    """The index of the newest compaction entry on the branch."""
    return next(
        (i for i in reversed(range(len(entries))) if entries[i].get("type") == "compaction"), None
    )


def range_start(entries: Sequence[Entry], previous: int) -> int:
    """Where the entries begin that the compaction at ``previous`` did not summarise.

    Its kept tail is summarised by the next compaction; when that tail's first entry is not on the
    branch, only what came after the compaction is.
    """
    wanted = entries[previous].get("firstKeptEntryId")
    return next((i for i, e in enumerate(entries) if e.get("id") == wanted), previous + 1)


def no_cut(reason: str, previous: int | None, rule_set: str) -> CompactionCut:
    """A branch without anything to cut, and why."""
    decision = Decision("compaction_cut", False, "nothing", reason, rule_set)
    nothing = range(0)
    return CompactionCut(decision, previous, nothing, nothing, nothing, None)


def cut_decision(start: int, end: int, keep: float, cut: CutPoint, rule_set: str) -> Decision:
    """The decision of a cut that was found, with its arithmetic."""
    first_kept = cut.first_kept_index
    steps = [Step("collected", "Σ tokens of messages, newest first", cut.collected_tokens)]
    if cut.reached_index is not None:
        steps.append(Step("reachedAt", "collected >= keepRecentTokens", cut.reached_index, "count"))
    if cut.valid is not None:
        steps.append(Step("cutPoint", "first valid cut point from there", cut.valid, "count"))
    steps += [
        Step("firstKept", "cutPoint - entries drawn in", first_kept, "count"),
        Step("turnStart", "start of the turn that is cut", cut.turn_start_index, "count"),
        Step("historyEntries", "historyEnd - start", cut.history_end - start, "count"),
        Step("turnPrefixEntries", "firstKept - historyEnd", first_kept - cut.history_end, "count"),
        Step("keptEntries", "end - firstKept", end - first_kept, "count"),
    ]
    return Decision(
        rule="compaction_cut",
        fired=True,
        outcome="split_turn" if cut.is_split_turn else "cut",
        reason=cut.reason,
        rule_set=rule_set,
        inputs={"keepRecentTokens": keep, "start": start, "end": end},
        steps=tuple(steps),
    )
