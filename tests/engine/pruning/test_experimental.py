"""What if the runtime's fixed constants were others?"""

from __future__ import annotations

from compaction_app.engine.pruning.experimental import ExperimentalConstants, with_constants
from compaction_app.engine.pruning.guard import guard_context, guard_limits
from compaction_app.engine.pruning.truncate import truncate_text
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from sessions_app.tokens.pruner_chars import pruner_message_chars
from tests.engine.pruning.messages import IMAGE, user


def test_without_constants_the_rules_are_the_version_s_own() -> None:
    assert with_constants(OPENCLAW_2026_5_28, ExperimentalConstants()) is OPENCLAW_2026_5_28
    assert not OPENCLAW_2026_5_28.pruning.experimental


def test_changed_rules_carry_a_mark_and_say_so_in_every_decision() -> None:
    rules = with_constants(OPENCLAW_2026_5_28, ExperimentalConstants(headroom_share=0.5))
    assert rules.pruning.experimental
    assert (
        guard_context([user()], 8000, rules).decision.rule_set == "openclaw-2026.5.28+experimental"
    )
    assert guard_limits(8000, rules.pruning.guard).total_chars == 16_000


def test_a_constant_reaches_every_record_that_uses_it() -> None:
    rules = with_constants(
        OPENCLAW_2026_5_28,
        ExperimentalConstants(tail_share=0.1, tail_max_chars=50, image_chars=100),
    )
    pruning = rules.pruning
    assert pruning.recovery.truncation is pruning.persist.truncation is pruning.truncation
    assert pruning.session_rewrite.recovery is pruning.recovery
    text = "x" * 30_000 + " done"
    cut = truncate_text(text, 9000, pruning.truncation)
    assert cut != truncate_text(text, 9000, OPENCLAW_2026_5_28.pruning.truncation)
    assert pruner_message_chars(user([IMAGE]), pruning.cache_ttl.chars) == 100
    assert pruning.guard.cut.chars.image_chars == rules.loop_chars.image_chars == 100
