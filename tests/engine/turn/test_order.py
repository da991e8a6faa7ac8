"""Which stages a turn has is data of the rule set, by path."""

from __future__ import annotations

import pytest

from compaction_app.engine.circumstances import PATHS
from compaction_app.engine.rule_sets import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    RULE_SETS,
)


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_every_version_has_an_order_for_every_path(rules):
    assert set(rules.turn.orders) == set(PATHS)


@pytest.mark.parametrize("path", ["agent", "local", "cli"])
def test_only_the_reply_pipeline_checks_a_session_and_counts_compactions(path):
    order = OPENCLAW_2026_5_28.turn.orders[path]
    assert order.turn == ()
    assert "compaction_count" not in order.closing
    assert OPENCLAW_2026_5_28.turn.orders["chat"].turn == ("preflight", "flush")


def test_the_oldest_version_has_neither_preflight_nor_a_check_before_the_prompt():
    chat = OPENCLAW_2026_3.turn.orders["chat"]
    assert chat.turn == ("flush",)
    assert "pre_prompt_check" not in chat.attempt


def test_older_versions_take_images_out_once_an_attempt_later_ones_at_every_call():
    assert "stored_history_images" in OPENCLAW_2026_4_20.turn.orders["chat"].attempt
    assert "history_images" in OPENCLAW_2026_5_28.turn.orders["chat"].call


def test_a_call_is_pruned_before_it_is_guarded():
    stages = OPENCLAW_2026_5_28.turn.orders["chat"].call
    assert stages.index("cache_ttl_pruning") < stages.index("soft_guard")
