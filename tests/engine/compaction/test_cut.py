"""Where a compaction cuts (spec compaction 2)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.compaction.cut import (
    CompactionCut,
    cut_for_compaction,
    find_cut_point,
    is_cut_point,
)

TOKENS = 10
KINDS = ("user", "assistant", "toolResult", "bashExecution", "custom", "model_change", "label",
         "branch_summary", "custom_message")  # fmt: skip


def entry(number: int, kind: str) -> dict[str, Any]:
    if kind in ("model_change", "label", "branch_summary", "custom_message"):
        return {"type": kind, "id": f"e{number}"}
    if kind == "compaction":
        return {"type": kind, "id": f"e{number}", "summary": "S", "firstKeptEntryId": "e1"}
    return {"type": "message", "id": f"e{number}", "message": {"role": kind}}


def entries(*kinds: str) -> list[dict[str, Any]]:
    return [entry(i, kind) for i, kind in enumerate(kinds)]


def cut(branch: list[dict[str, Any]], keep: float) -> CompactionCut:
    return cut_for_compaction(branch, keep, lambda _: TOKENS, "rules")


def test_a_cut_at_a_user_message_splits_no_turn() -> None:
    found = cut(entries("user", "assistant", "user", "assistant"), 2 * TOKENS)
    assert (found.history, found.turn_prefix, found.kept) == (range(2), range(2, 2), range(2, 4))
    assert (found.decision.outcome, found.decision.reason) == ("cut", "kept_enough")


def test_a_cut_inside_a_turn_gives_its_beginning_to_the_turn_prefix() -> None:
    found = cut(entries("user", "assistant", "user", "assistant"), TOKENS)
    assert (found.history, found.turn_prefix, found.kept) == (range(2), range(2, 3), range(3, 4))
    assert found.decision.outcome == "split_turn"


def test_a_tool_result_is_kept_with_the_cut_behind_it() -> None:
    found = cut(entries("user", "assistant", "toolResult", "assistant"), 2 * TOKENS)
    assert found.kept == range(3, 4)


def test_enough_tokens_in_a_trailing_tool_result_keep_everything() -> None:
    found = cut(entries("user", "assistant", "toolResult"), TOKENS)
    assert found.kept == range(3)
    assert found.decision.reason == "no_cut_point_behind"


def test_a_session_smaller_than_the_kept_tail_is_kept_whole() -> None:
    found = cut(entries("user", "assistant"), 3 * TOKENS)
    assert (found.kept, found.decision.reason) == (range(2), "all_kept")


def test_a_model_change_before_the_cut_is_kept_and_makes_it_a_split_turn() -> None:
    found = cut(entries("user", "assistant", "model_change", "user"), TOKENS)
    assert (found.turn_prefix, found.kept) == (range(2), range(2, 4))


def test_a_second_compaction_starts_at_the_tail_the_first_one_kept() -> None:
    found = cut(entries("user", "user", "assistant", "compaction", "user"), TOKENS)
    assert (found.previous_index, found.history) == (3, range(1, 4))


def test_a_second_compaction_starts_behind_the_first_when_its_tail_is_not_on_the_branch() -> None:
    branch = entries("user", "user", "compaction", "user", "user")
    branch[2]["firstKeptEntryId"] = "gone"
    assert cut(branch, TOKENS).history == range(3, 4)


def test_a_branch_that_ends_with_a_compaction_has_nothing_to_cut() -> None:
    found = cut(entries("user", "user", "compaction"), TOKENS)
    assert not found.decision.fired
    assert (found.decision.reason, found.kept) == ("already_compacted", range(0))


def test_an_empty_branch_has_nothing_to_cut() -> None:
    assert cut([], TOKENS).decision.reason == "empty_session"


def test_a_first_kept_entry_without_an_id_is_refused() -> None:
    branch = entries("user", "user")
    branch[1]["id"] = ""
    assert cut(branch, TOKENS).decision.reason == "invalid_session"


@given(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=30),
    st.lists(st.integers(0, 50), min_size=30, max_size=30),
    st.integers(0, 400),
)
def test_history_prefix_and_kept_tail_are_the_branch_and_never_begin_with_a_tool_result(
    kinds: list[str], costs: list[int], keep: int
) -> None:
    branch = entries(*kinds)
    found = cut_for_compaction(branch, keep, costs.__getitem__, "rules")
    assert [*found.history, *found.turn_prefix, *found.kept] == list(range(len(branch)))
    kept = [branch[i] for i in found.kept]
    messages = [e for e in kept if e["type"] == "message" or is_cut_point(e)]
    if any(map(is_cut_point, branch)):
        assert is_cut_point(messages[0])
    assert found == cut_for_compaction(branch, keep, costs.__getitem__, "rules")


@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=30), st.integers(0, 100))
def test_keeping_more_never_moves_the_cut_forward_unless_a_trailing_result_blocks_it(
    kinds: list[str], keep: int
) -> None:
    branch = [*entries(*kinds), entry(len(kinds), "assistant")]
    nearer = find_cut_point(branch, 0, len(branch), keep, lambda _: TOKENS)
    further = find_cut_point(branch, 0, len(branch), keep + 25, lambda _: TOKENS)
    assert further.first_kept_index <= nearer.first_kept_index
