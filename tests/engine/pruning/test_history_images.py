"""Which images of the past are taken out of a context."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from compaction_app.engine.pruning.history_images import (
    HISTORY_IMAGES_2026_3,
    HISTORY_IMAGES_2026_4_20,
    HISTORY_IMAGES_2026_5_28,
    IMAGE_MARKER,
    MEDIA_MARKER,
    HistoryImageRules,
    completed_turn_starts,
    prune_history_images,
)
from tests.engine.pruning.messages import (
    IMAGE,
    answer,
    conversations,
    result,
    text_of,
    unchanged,
    user,
)

ALL = [HISTORY_IMAGES_2026_3, HISTORY_IMAGES_2026_4_20, HISTORY_IMAGES_2026_5_28]
LATER = [message for i in range(3) for message in (user(f"q{i}"), answer())]


@pytest.mark.parametrize("rules", ALL)
@given(messages=conversations)
def test_applying_it_again_changes_nothing_and_the_given_list_stays(
    rules: HistoryImageRules, messages: list[dict[str, Any]]
) -> None:
    before = unchanged(messages)
    done = prune_history_images(messages, rules)
    assert messages == before
    assert (done.messages is messages) == (not done.changes)
    assert prune_history_images(done.messages, rules).messages is done.messages


def test_the_last_three_answered_turns_keep_their_images() -> None:
    messages = [user([IMAGE]), answer(), *LATER]
    for rules in (HISTORY_IMAGES_2026_4_20, HISTORY_IMAGES_2026_5_28):
        assert text_of(prune_history_images(messages, rules).messages[0]) == IMAGE_MARKER
        assert prune_history_images(messages[:-1], rules).changes == ()


def test_2026_3_keeps_only_what_follows_the_last_answer() -> None:
    messages = [user([IMAGE]), answer(), user([IMAGE])]
    done = prune_history_images(messages, HISTORY_IMAGES_2026_3)
    assert [made.position for made in done.changes] == [0]
    assert prune_history_images([user([IMAGE])], HISTORY_IMAGES_2026_3).changes == ()


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("see [media attached: /a.png] x", f"see {MEDIA_MARKER} x"),
        ("[MEDIA attached 1/2:b]", MEDIA_MARKER),
        ("[image: source: c]", MEDIA_MARKER),
        ("media://inbound/a.png/b", f"{MEDIA_MARKER}/b"),
        ("MEDIA://inbound/a", "MEDIA://inbound/a"),
        ("xmedia://inbound/a", "xmedia://inbound/a"),
        ("[media attached:]", "[media attached:]"),
    ],
)
def test_references_to_media_go_in_the_current_version(text: str, clean: str) -> None:
    messages = [user(text), answer(), *LATER]
    assert prune_history_images(messages, HISTORY_IMAGES_2026_5_28).messages[0] == user(clean)
    assert prune_history_images(messages, HISTORY_IMAGES_2026_4_20).messages is messages


def test_a_turn_begins_with_a_prompt_or_an_unasked_result() -> None:
    messages = [answer(), result("r"), answer(), user(), user(), answer(), result("r"), user()]
    assert completed_turn_starts(messages) == [1, 4]
