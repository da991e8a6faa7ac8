"""How much of a history goes into a summary (spec compaction 1.6)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.compaction.chunks import split_by_token_share
from compaction_app.engine.compaction.history_share import (
    HISTORY_SHARE_2026_3,
    HISTORY_SHARE_2026_5_28,
    history_share,
    prune_history,
)
from compaction_app.engine.compaction.versions import COMPACTION_2026_5_28
from tests.engine.compaction.driving import assistant, result, user


def test_the_oldest_part_goes_until_the_rest_fits() -> None:
    messages = [user("x" * 4000) for _ in range(4)]
    found = prune_history(messages, 2000, 0.5, COMPACTION_2026_5_28, 0)
    assert (found.dropped_chunks, found.dropped_messages) == (2, 3)
    assert (found.kept_tokens, found.budget_tokens) == (1000, 1000)


def test_a_single_message_stays_although_it_does_not_fit() -> None:
    found = prune_history([user("x" * 4000)], 100, 0.5, COMPACTION_2026_5_28, 0)
    assert (found.kept_tokens, found.dropped) == (1000, ())


def test_only_the_newest_version_knows_a_smaller_share_for_a_handoff() -> None:
    assert history_share(None, "handoff", HISTORY_SHARE_2026_5_28) == 0.2
    assert history_share(None, "handoff", HISTORY_SHARE_2026_3) == 0.5
    assert history_share(0.9, "handoff", HISTORY_SHARE_2026_5_28) == 0.9


@given(st.lists(st.integers(0, 2000), max_size=10), st.integers(1, 3000), st.floats(0.1, 0.9))
def test_dropped_and_kept_are_the_history_in_order(
    sizes: list[int], window: int, share: float
) -> None:
    messages = [
        m
        for i, size in enumerate(sizes)
        for m in (user("x" * size), assistant("", str(i)), result(str(i), "r" * size))
    ]
    found = prune_history(messages, window, share, COMPACTION_2026_5_28, 0)
    assert [*found.dropped, *found.messages] == messages
    if found.kept_tokens > found.budget_tokens:
        assert len(split_by_token_share(found.messages, 2, COMPACTION_2026_5_28.chunks)) == 1
