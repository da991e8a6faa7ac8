"""Old tool results given up so that a context fits."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.pruning.compact_results import PLACEHOLDER, compact_oldest, write_back
from compaction_app.engine.pruning.soft_cut import SOFT_CUT_2026_3
from sessions_app.tokens.loop_chars import loop_message_chars
from tests.engine.pruning.messages import result, text_of, unchanged, user


def compacted(messages: list[Any], needed: float) -> tuple[int, dict[int, Any]]:
    sizes = [loop_message_chars(message, SOFT_CUT_2026_3.chars) for message in messages]
    gained, new, _ = compact_oldest(messages, sizes, needed, SOFT_CUT_2026_3)
    return gained, new


def test_the_oldest_go_first_until_enough_is_gained() -> None:
    messages = [user(), result("a" * 500), result("b" * 500), result("c" * 500)]
    before = unchanged(messages)
    gained, new = compacted(messages, 905)
    assert gained == 2 * (1000 - 96) and list(new) == [1, 2]
    assert text_of(new[1]) == PLACEHOLDER and messages == before


def test_nothing_needed_gives_up_nothing() -> None:
    assert compacted([result("a" * 500)], 0) == (0, {})


def test_a_short_result_grows_and_gains_nothing() -> None:
    gained, new = compacted([result("a" * 24), result("a" * 40)], 10)
    assert gained == 0 and list(new) == [1]


def test_it_may_fall_short() -> None:
    assert compacted([result("a" * 500)], 99_999)[0] == 904


def test_writing_back_keeps_the_object_and_drops_what_the_new_form_lacks() -> None:
    message = result("a", details=1)
    messages = [message]
    write_back(messages, {0: result("b")})
    assert messages[0] is message and message == result("b")
