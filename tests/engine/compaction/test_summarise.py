"""Chunks, fallbacks and stages of a summary (spec compaction 1.5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.compaction.failures import Failure
from compaction_app.engine.compaction.summarise import (
    SummaryTask,
    summarise_chunks,
    summarise_in_stages,
    summarise_with_fallback,
)
from compaction_app.engine.compaction.versions import (
    COMPACTION_2026_3,
    COMPACTION_2026_4_20,
    COMPACTION_2026_5_28,
)
from tests.engine.compaction.driving import ABORT, ERROR, TIMEOUT, Model, user

RULES = COMPACTION_2026_5_28
FOUR = [user("x" * 400) for _ in range(4)]


def task(messages: list[Any], **fields: Any) -> SummaryTask:
    sizes = {"max_chunk_tokens": 240, "context_window": 10_000, "reserve_tokens": 1000}
    return SummaryTask(messages, **{**sizes, **fields})


def test_each_chunk_continues_the_summary_of_those_before_it() -> None:
    model = Model("one", "two")
    run = model.run(summarise_chunks(task(FOUR, previous_summary="old"), RULES))
    assert run.summary == "two"
    assert [call.previous_summary for call in model.calls] == ["old", "one"]
    assert [(c.chunk.start, c.chunk.end) for c in run.chunks] == [(0, 2), (2, 4)]


def test_nothing_to_summarise_keeps_the_summary_so_far() -> None:
    model = Model()
    assert model.run(summarise_chunks(task([], previous_summary="old"), RULES)).summary == "old"
    assert model.run(summarise_in_stages(task([]), RULES)).summary == "No prior history."
    assert model.requests == []


def test_an_empty_answer_is_kept_but_no_answer_is_not() -> None:
    one = task(FOUR[:1])
    assert Model("").run(summarise_chunks(one, RULES)).summary == ""
    assert Model(None).run(summarise_chunks(one, RULES)).summary == "No prior history."


def test_an_error_is_tried_three_times_with_growing_pauses() -> None:
    run = Model(ERROR).run(summarise_chunks(task(FOUR[:1]), RULES))
    (chunk,) = run.chunks
    assert [(a.outcome, a.delay_ms) for a in chunk.attempts] == [
        ("retried", 500), ("retried", 1000), ("gave_up", None),
    ]  # fmt: skip
    assert (run.summary, run.failure) == (None, ERROR)


@pytest.mark.parametrize(("failure", "outcome"), [(ABORT, "aborted"), (TIMEOUT, "timed_out")])
def test_an_abort_and_a_timeout_are_not_tried_again(failure: Failure, outcome: str) -> None:
    run = Model(failure).run(summarise_chunks(task(FOUR[:1]), RULES))
    assert [a.outcome for a in run.chunks[0].attempts] == [outcome]


def test_the_first_version_tries_a_timeout_again() -> None:
    run = Model(TIMEOUT, "S").run(summarise_chunks(task(FOUR[:1]), COMPACTION_2026_3))
    assert [a.outcome for a in run.chunks[0].attempts] == ["retried", "answered"]


def test_a_later_chunk_that_fails_leaves_a_partial_summary() -> None:
    run = Model("one", ERROR).run(summarise_chunks(task(FOUR), RULES))
    assert run.failure == Failure("Error", "partial summarization failure", ERROR)
    assert run.partial is not None and run.partial.startswith(
        "one\n\n[Partial summary: chunks 1-1 of 2"
    )
    older = Model("one", ERROR).run(summarise_chunks(task(FOUR), COMPACTION_2026_4_20))
    assert (older.partial, older.failure) == (None, ERROR)


def test_a_later_chunk_that_is_aborted_leaves_nothing() -> None:
    run = Model("one", ABORT).run(summarise_chunks(task(FOUR), RULES))
    assert (run.partial, run.failure) == (None, ABORT)


def test_oversized_messages_are_left_out_of_the_second_attempt_and_named() -> None:
    model = Model(ERROR, ERROR, ERROR, "small part")
    run = model.run(summarise_with_fallback(task([user("a"), user("b" * 40_000)]), RULES))
    assert run.level == "without_oversized"
    assert run.oversized == (1,)
    assert run.summary == "small part\n\n[Large user (~10K tokens) omitted from summary]"


def test_without_oversized_messages_only_the_first_version_tries_again() -> None:
    assert len(Model(ERROR).run(summarise_with_fallback(task(FOUR[:1]), RULES)).runs) == 1
    first = Model(ERROR).run(summarise_with_fallback(task(FOUR[:1]), COMPACTION_2026_3))
    assert (len(first.runs), first.level) == (2, "unavailable")


def test_stages_summarise_the_parts_alone_and_merge_them_with_the_summary_so_far() -> None:
    model = Model("one", "two", "merged")
    run = model.run(summarise_in_stages(task(FOUR, previous_summary="old"), RULES))
    assert (run.summary, run.reason, len(run.parts)) == ("merged", "staged", 2)
    assert [call.previous_summary for call in model.calls] == [None, None, "old"]
    assert [m["content"] for m in model.calls[2].messages] == ["one", "two"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"parts": 1}, "one_part"),
        ({"min_messages_for_stages": 5}, "too_few_messages"),
        ({"max_chunk_tokens": 400}, "fits_one_chunk"),
    ],
)
def test_one_pass_is_enough_and_the_record_says_why(fields: dict[str, Any], reason: str) -> None:
    assert Model("S").run(summarise_in_stages(task(FOUR, **fields), RULES)).reason == reason


def test_messages_without_tokens_cannot_be_divided() -> None:
    run = Model("S").run(summarise_in_stages(task([user("")] * 4, max_chunk_tokens=-1), RULES))
    assert run.reason == "not_divisible"


def test_a_summariser_sees_no_runtime_context_and_no_details() -> None:
    hidden = {"role": "custom", "customType": "openclaw.runtime-context", "content": "secret"}
    tool = {"role": "toolResult", "toolCallId": "a", "content": [], "details": {"z": 1}}
    model = Model()
    run = model.run(summarise_chunks(task([user("a"), hidden, tool]), RULES))
    assert run.left_out == 1
    assert [m["role"] for m in model.calls[0].messages] == ["user", "toolResult"]
    assert "details" not in model.calls[0].messages[1]


ANSWERS = st.one_of(
    st.none(), st.text(max_size=20), st.sampled_from([ERROR, ABORT, TIMEOUT]),
    st.builds(Failure, st.text(max_size=30), st.text(max_size=30)),
)  # fmt: skip
MESSAGES = st.lists(st.integers(0, 4000).map(lambda size: user("x" * size)), max_size=8)


@given(MESSAGES, st.lists(ANSWERS, min_size=1, max_size=12), st.integers(0, 900),
       st.sampled_from([COMPACTION_2026_3, COMPACTION_2026_4_20, RULES]))  # fmt: skip
def test_whatever_the_model_does_there_is_a_summary_and_always_the_same_record(
    messages: list[Any], answers: list[Any], max_tokens: int, rules: Any
) -> None:
    given_task = task(messages, max_chunk_tokens=max_tokens, context_window=1500)
    runs = [Model(*answers).run(summarise_in_stages(given_task, rules)) for _ in range(2)]
    assert isinstance(runs[0].summary, str)
    assert runs[0] == runs[1]
