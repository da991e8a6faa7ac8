"""How large the summaries of a what-if are, and who says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.lines import lines_of
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay import replay
from compaction_app.engine.summary_sizes import AS_KNOWN, SummaryChoice, SummarySizes, summary_sizes
from sessions_app.transcripts.timeline import Timeline
from tests.engine.builders import chat

ROOMY = replace(Policy(), context_window=1_000_000)


def never() -> int:
    raise AssertionError("the texts were read although nobody needed them")


def sizes(
    grown: Timeline,
    policy: Policy = ROOMY,
    choice: SummaryChoice = AS_KNOWN,
    extractive: Callable[[], int] | None = None,
) -> SummarySizes:
    return summary_sizes(grown, lines_of(policy, Circumstances()), policy, choice, extractive)


def with_summaries(*chars: int) -> Timeline:
    script = chat(3)
    for size in chars:
        script.compaction("e2", "s" * size).user().answer()
    return script.grown()


def test_the_recorded_sizes_come_in_their_order_and_then_their_median() -> None:
    found = sizes(with_summaries(4_000, 400, 1_200), extractive=never)
    assert found.source == "recorded"
    assert [found.size(number) for number in range(5)] == [1_000, 100, 300, 300, 300]


def test_without_recorded_ones_the_summariser_without_a_model_is_measured_when_one_is_needed() -> (
    None
):
    asked: list[int] = []
    found = sizes(chat(3).grown(), extractive=lambda: asked.append(1) or 700)  # type: ignore[func-returns-value]
    assert found.source == "extractive" and not asked
    assert [found.size(number) for number in range(3)] == [700, 700, 700]
    assert len(asked) == 1


def test_what_the_reserve_or_the_answer_leaves_bounds_that_summary() -> None:
    narrow = replace(ROOMY, max_tokens=500)
    assert sizes(chat(3).grown(), narrow, extractive=lambda: 700).size(0) == 400


def test_where_no_text_can_be_read_the_cap_stands_in() -> None:
    found = sizes(chat(3).grown())
    assert (found.source, found.size(0)) == ("cap", 4_000)
    assert sizes(chat(3).grown(), replace(ROOMY, max_tokens=1_000)).size(0) == 800


@pytest.mark.parametrize(
    ("choice", "source", "tokens"),
    [
        (SummaryChoice("recorded"), "recorded", 1_000),
        (SummaryChoice("extractive"), "extractive", 700),
        (SummaryChoice("cap"), "cap", 4_000),
        (SummaryChoice("cap", 2_500), "chosen", 2_500),
        (SummaryChoice("", 50_000), "chosen", 50_000),
    ],
)
def test_a_choice_goes_before_what_is_known(
    choice: SummaryChoice, source: str, tokens: int
) -> None:
    found = sizes(with_summaries(4_000), choice=choice, extractive=lambda: 700)
    assert (found.source, found.size(0)) == (source, tokens)


def test_a_session_that_never_compacted_has_no_sizes_to_take() -> None:
    found = sizes(chat(3).grown(), choice=SummaryChoice("recorded"), extractive=lambda: 700)
    assert found.source == "extractive"


def test_a_what_if_that_compacts_nothing_reads_no_text() -> None:
    done = replay(chat(3).grown(), ROOMY, Circumstances(), extractive=never)
    assert done.summary_tokens == ()


def test_the_next_prompt_is_larger_by_as_much_as_the_summary_is() -> None:
    grown, policy = (
        chat(60).grown(),
        replace(ROOMY, context_window=32_000, keep_recent_tokens=2_000),
    )
    small, large = (
        replay(grown, policy, Circumstances(), choice=SummaryChoice("", tokens))
        for tokens in (100, 1_100)
    )
    assert small.summary_tokens[0] == 100 and large.summary_tokens[0] == 1_100
    call = next(n for n in range(grown.calls) if small.prompt[n] != large.prompt[n])
    assert large.prompt[call] - small.prompt[call] == 1_000
