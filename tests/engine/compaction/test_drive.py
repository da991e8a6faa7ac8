"""Running a compaction to its end, and the record it leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from compaction_app.engine.compaction.drive import Means, drive
from compaction_app.engine.compaction.failures import Failure
from compaction_app.engine.compaction.record import CompactionRecord, record_of
from compaction_app.engine.compaction.requests import (
    NOT_REGISTERED,
    CredentialsAnswer,
    ModelAnswer,
    ModelCall,
    ParallelCalls,
    ProviderCall,
    Steps,
    Wait,
    WorkspaceFile,
)
from compaction_app.engine.compaction.run import CompactionOrder, run_compaction
from compaction_app.engine.compaction.safeguard_settings import SafeguardSettings
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from compaction_app.summarisers.extractive import extractive_summary
from tests.engine.compaction.driving import assistant, branch, user
from tests.summarisers.conversations import order

CALL = ModelCall((), 1)
LONG = "x" * 12_000
TALK = branch(
    [user("first " + LONG), assistant(LONG), user("again " * 400), assistant("b " * 3500)]
)


def record(answers: Any, **changes: Any) -> CompactionRecord:
    asked: CompactionOrder = order(**changes)
    run = drive(run_compaction(TALK, asked, OPENCLAW_2026_5_28), Means(answers))
    return record_of(TALK, asked, run)


def asking(*requests: Any) -> Steps[list[Any]]:
    answers = []
    for request in requests:
        answers.append((yield request))
    return answers


def test_every_request_is_answered_with_what_it_asks_for() -> None:
    means = Means(
        summarise=lambda call: f"{call.reserve_tokens}",
        files={"AGENTS.md": "rules"},
        providers={"p": lambda call: "provided"},
        credentials=CredentialsAnswer(error="none"),
    )
    provider = ProviderCall("p", (), "", None, None, None)
    wait = Wait(500, 0.2, 500, 5000)
    answers = drive(
        asking(
            CALL, ParallelCalls((CALL, ModelCall((), 2))), WorkspaceFile("AGENTS.md"),
            WorkspaceFile("b"), provider, replace(provider, provider="q"), wait,
        ),
        means,
    )  # fmt: skip
    assert answers == ["1", ("1", "2"), "rules", None, "provided", NOT_REGISTERED, 500]


def test_what_a_summariser_raises_is_a_failure_of_the_same_name() -> None:
    def broken(call: ModelCall) -> ModelAnswer:
        raise TimeoutError("too slow")

    assert drive(asking(CALL), Means(broken)) == [Failure("TimeoutError", "too slow")]


def test_the_record_says_what_was_summarised_how_and_with_what_result() -> None:
    found = record(extractive_summary, safeguard=SafeguardSettings(recent_turns_preserve=0))
    assert (found.summarised, found.turn_prefix, found.kept) == (("e0", "e1"), (), ("e2", "e3"))
    assert (found.outcome, found.reason, found.mode) == ("compacted", "summarised", "safeguard")
    assert (found.entry_id, found.first_kept_entry_id) == ("new", "e2")
    assert found.tokens_before is not None and found.tokens_after is not None
    assert found.tokens_after < found.tokens_before
    (summary,) = found.summaries
    assert (summary.purpose, summary.part, summary.level) == ("history", "whole", "full")
    assert [(row.start, row.end) for row in summary.passes[0].chunks] == [(0, 2)]
    assert [quality.outcome for quality in found.quality] == ["passed"]
    assert found.model_calls == 1


def test_the_record_of_a_summariser_that_fails_shows_every_try_and_every_pause() -> None:
    def failing(call: ModelCall) -> ModelAnswer:
        return Failure("Error", "boom")

    found = record(failing, safeguard=SafeguardSettings(recent_turns_preserve=0))
    first = found.summaries[0].passes[0].chunks[0]
    assert [(a.outcome, a.delay_ms) for a in first.attempts] == [
        ("retried", 500), ("retried", 1000), ("gave_up", None),
    ]  # fmt: skip
    assert {summary.level for summary in found.summaries} == {"unavailable"}
    assert [quality.outcome for quality in found.quality] == ["retried", "kept_although_failed"]
    assert found.quality[0].reasons[0] == "missing_section:## Decisions"
    assert found.model_calls == 6


def test_a_summary_in_stages_is_recorded_part_by_part() -> None:
    talk = branch([user("x" * 30_000) for _ in range(8)] + [user("last one")])
    asked = order(
        model={"provider": "p", "id": "m", "contextWindow": 50_000},
        safeguard=SafeguardSettings(recent_turns_preserve=0),
    )
    run = drive(run_compaction(talk, asked, OPENCLAW_2026_5_28), Means(extractive_summary))
    rows = record_of(talk, asked, run).summaries
    assert [(row.part, row.number) for row in rows[:3]] == [
        ("part", 1), ("part", 2), ("merge", None),
    ]  # fmt: skip


def test_a_compaction_that_did_not_happen_is_recorded_as_well() -> None:
    found = record(extractive_summary, model=None)
    assert (found.outcome, found.reason, found.entry_id) == ("cancelled", "no_model", None)
    assert found.message == "Compaction safeguard could not resolve a summarization model."


def test_the_record_is_json_with_the_names_of_the_api() -> None:
    unpreserved = SafeguardSettings(recent_turns_preserve=0)
    found = record(extractive_summary, safeguard=unpreserved).as_json()
    assert json.loads(json.dumps(found)) == found
    assert found["tokensBefore"] > 0
    chunk = found["summaries"][0]["passes"][0]["chunks"][0]
    assert chunk["attempts"][0] == {
        "number": 1, "outcome": "answered", "error": None, "delayMs": None,
    }  # fmt: skip


def test_the_record_of_the_default_mode_shows_every_attempt_as_well() -> None:
    found = record(extractive_summary, mode="default")
    (summary,) = found.summaries
    (chunk,) = summary.passes[0].chunks
    assert (summary.purpose, summary.level, found.model_calls) == ("history", "full", 1)
    assert (chunk.start, chunk.end, chunk.attempts[0].outcome) == (0, 2, "answered")
    assert chunk.tokens > 0 and summary.chars > 0


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (Failure("Error", "boom"), "gave_up"),
        (Failure("AbortError", "stopped"), "aborted"),
        (Failure("TimeoutError", "too slow"), "timed_out"),
    ],
)
def test_a_failed_attempt_of_the_default_mode_says_why(failure: Failure, outcome: str) -> None:
    found = record(lambda call: failure, mode="default")
    (summary,) = found.summaries
    (attempt,) = summary.passes[0].chunks[0].attempts
    assert (attempt.outcome, attempt.error) == (outcome, failure.message)
    assert (found.outcome, summary.level, summary.passes[0].failure) == (
        "failed", "unavailable", failure.message,
    )  # fmt: skip


def test_both_attempts_for_a_split_turn_are_recorded() -> None:
    talk = branch(
        [user("one"), assistant("two"), user("go"), assistant(LONG), assistant("b" * 9_000)]
    )
    asked = order(mode="default")
    run = drive(run_compaction(talk, asked, OPENCLAW_2026_5_28), Means(extractive_summary))
    assert [s.purpose for s in record_of(talk, asked, run).summaries] == ["history", "turn_prefix"]
