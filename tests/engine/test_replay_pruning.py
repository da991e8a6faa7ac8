"""Pruning by arrays equals pruning of real messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compaction_app.engine.pruning.cache_ttl import PrunedContext, prune_context
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings, HardClear, SoftTrim
from compaction_app.engine.pruning.cache_ttl_trim import soft_trimmed
from compaction_app.engine.pruning.experimental import ExperimentalConstants, with_constants
from compaction_app.engine.replay_prunable import prunable_rows
from compaction_app.engine.replay_pruning import Pruned, PruningRows, decision_of
from compaction_app.engine.rule_sets import OPENCLAW_2026_3, OPENCLAW_2026_5_28, RuleSet
from sessions_app.tokens.pruner_chars import pruner_message_chars
from sessions_app.transcripts.columns import Ints
from tests.engine.pruning.messages import IMAGE, answer, answers, result, results, user, users
from tests.engine.timelines import columns

SUMMARY = {"role": "compactionSummary", "summary": "what came before"}
NARROW = st.text("abc\n😀", max_size=60)
settings_drawn = st.builds(
    CacheTtlSettings,
    keep_last_assistants=st.integers(0, 3),
    soft_trim_ratio=st.floats(0, 1),
    hard_clear_ratio=st.floats(0, 1),
    min_prunable_tool_chars=st.integers(0, 3000),
    tools=st.sampled_from([{}, {"deny": ["ex*"]}, {"allow": [" Read", "browser"]}]),
    soft_trim=st.builds(SoftTrim, st.integers(0, 300), st.integers(0, 200), st.integers(0, 200)),
    hard_clear=st.builds(HardClear, st.booleans(), st.sampled_from(["[cleared]", "已清除" * 30])),
)
others = st.sampled_from(
    [
        {"role": "bashExecution", "command": "ls", "output": "x" * 900},
        {"role": "custom", "customType": "note", "content": "汉字"},
        {"role": "user", "content": None},
        {"role": "toolResult", "toolName": "read"},
    ]
)
contexts = st.lists(st.one_of(users, answers, results, results, others), max_size=14)


def arrays(
    messages: list[Any],
    settings: CacheTtlSettings,
    window: int,
    rules: RuleSet = OPENCLAW_2026_5_28,
    asked: list[int] | None = None,
) -> PruningRows:
    chars = rules.pruning.cache_ttl.chars

    def trimmed(rows: Ints) -> Ints:
        if asked is not None:
            asked.extend(rows.tolist())
        shorter = [
            soft_trimmed(messages[row], settings.soft_trim, chars) or messages[row]
            for row in rows.tolist()
        ]
        return np.array([pruner_message_chars(message, chars) for message in shorter])

    rows = columns(messages)
    nothing = np.zeros(len(rows), np.int64)
    weights = np.maximum(rows.pruner_chars, 0).astype(np.float64)
    fixed = prunable_rows(rows, nothing > 0, settings, rules, window, trimmed)
    return PruningRows(fixed, gone=nothing, weights=weights)


def removed(messages: list[Any], done: PrunedContext, rules: RuleSet) -> dict[int, int]:
    """Characters that each changed message lost, from its first form to its last."""
    chars = rules.pruning.cache_ttl.chars
    return {
        position: pruner_message_chars(messages[position], chars)
        - pruner_message_chars(done.messages[position], chars)
        for position in {int(made.position) for made in done.changes}
    }


def both(
    messages: list[Any],
    settings: CacheTtlSettings,
    window: int = 1000,
    rules: RuleSet = OPENCLAW_2026_5_28,
    start: int = 0,
    summary: bool = False,
) -> tuple[PruningRows, Pruned, PrunedContext]:
    """The same context pruned by arrays and as messages."""
    rows = arrays(messages, settings, window, rules)
    done = rows.call(start, len(messages), summary)
    context = [SUMMARY, *messages[start:]] if summary else messages[start:]
    return rows, done, prune_context(context, settings, rules, window_tokens=window)


@given(
    messages=contexts,
    settings=settings_drawn,
    window=st.integers(1, 2000),
    summary=st.booleans(),
    start=st.integers(0, 4),
)
@example(
    [user(), result("汉" * 400), answer()], CacheTtlSettings(keep_last_assistants=1), 100, False, 0
)
def test_a_context_is_pruned_as_the_messages_are(
    messages: list[Any], settings: CacheTtlSettings, window: int, summary: bool, start: int
) -> None:
    start = min(start, len(messages))
    try:
        rows, done, real = both(messages, settings, window, start=start, summary=summary)
    except TypeError:
        rows = arrays(messages, settings, window)
        assert rows.call(start, len(messages), summary).reason == "malformed_message"
        return
    assert done.fired == real.decision.fired
    decided = decision_of(done, rows.fixed)
    assert (decided.reason, decided.outcome) == (real.decision.reason, real.decision.outcome)
    assert decided.steps == real.decision.steps
    ahead = start - summary
    lost = removed(
        [SUMMARY, *messages[start:]] if summary else messages[start:], real, OPENCLAW_2026_5_28
    )
    assert rows.removed_by_row(done) == {place + ahead: chars for place, chars in lost.items()}
    assert rows.trimmed_chars(done) + rows.cleared_chars(done) == sum(lost.values())
    if done.chars >= 0:
        assert decided.inputs == {
            **real.decision.inputs,
            "protectedFrom": int(real.decision.inputs["protectedFrom"]) + ahead,  # type: ignore[arg-type]
        }
        assert done.chars - done.chars_after == sum(lost.values())


@given(text=NARROW.filter(bool), images=st.integers(0, 2), trim=settings_drawn)
def test_the_text_is_asked_for_only_where_wide_characters_are_trimmed(
    text: str, images: int, trim: CacheTtlSettings
) -> None:
    narrow = {
        **result(text * 20),
        "content": [{"type": "text", "text": text * 20}, *[IMAGE] * images],
    }
    asked: list[int] = []
    arrays([user(), narrow, result("汉字")], trim, 1000, asked=asked)
    long = (
        trim.soft_trim.max_chars < 2 and trim.soft_trim.head_chars + trim.soft_trim.tail_chars < 2
    )
    assert asked == ([2] if long else [])


@pytest.mark.parametrize("rules", [OPENCLAW_2026_3, OPENCLAW_2026_5_28], ids=lambda rules: rules.id)
def test_every_version_weighs_tool_results_by_its_own_rules(rules: RuleSet) -> None:
    messages = [user("x"), result("汉" * 600), answer(), answer(), answer()]
    settings = CacheTtlSettings(
        soft_trim_ratio=0, hard_clear_ratio=0, soft_trim=SoftTrim(100, 20, 10)
    )
    rows, done, real = both(messages, settings, rules=rules)
    assert rows.removed_by_row(done) == removed(messages, real, rules)
    assert done.chars == real.decision.steps[1].value


def test_an_experimental_weight_of_images_counts() -> None:
    rules = with_constants(OPENCLAW_2026_5_28, ExperimentalConstants(image_chars=100))
    with_image = {**result(""), "content": [IMAGE]}
    messages = [user([IMAGE]), with_image, answer(), answer(), answer()]
    rows, done, real = both(messages, CacheTtlSettings(soft_trim_ratio=0), rules=rules)
    assert done.chars == real.decision.steps[1].value == 206
    assert rows.removed_by_row(done) == removed(messages, real, rules) == {1: 62}


def test_a_cleared_result_counts_as_cleared_with_all_it_lost() -> None:
    messages = [user(), result("t" * 9000), result("t" * 9000), answer(), answer(), answer()]
    settings = CacheTtlSettings(hard_clear_ratio=0.9, min_prunable_tool_chars=0)
    rows, done, _ = both(messages, settings, window=1200)
    assert (done.cleared, done.reason) == (1, "cleared_enough")
    assert rows.cleared_chars(done) == 9000 - 33
    assert rows.trimmed_chars(done) == 9000 - 3086


def test_a_prompt_weighs_less_by_the_share_of_each_result_that_is_gone() -> None:
    messages = [user(), result("t" * 8000), answer(), answer(), answer()]
    rows, done, _ = both(messages, CacheTtlSettings())
    assert rows.removed_weight(done) == pytest.approx(8000 - 3086)


def test_what_was_cut_for_good_is_not_there_to_be_pruned() -> None:
    messages = [user(), result("t" * 9000), answer(), answer(), answer()]
    rows = columns(messages)
    gone = np.array([0, 6000, 0, 0, 0])
    settings = replace(CacheTtlSettings(), soft_trim_ratio=0)
    fixed = prunable_rows(rows, gone < 0, settings, OPENCLAW_2026_5_28, 1000, lambda rows: rows)
    done = PruningRows(fixed, gone, gone * 1.0).call(0, len(messages), has_summary=False)
    assert (done.chars, done.fired) == (3011, False)
