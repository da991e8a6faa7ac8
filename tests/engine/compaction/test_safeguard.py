"""Compaction with the safeguard (spec compaction 3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.compaction.file_operations import FileOperations
from compaction_app.engine.compaction.instructions import IdentifierPolicy
from compaction_app.engine.compaction.quality import REQUIRED_SECTIONS
from compaction_app.engine.compaction.requests import CredentialsAnswer, ProviderCall
from compaction_app.engine.compaction.safeguard import SafeguardRun, safeguard_compaction
from compaction_app.engine.compaction.safeguard_settings import (
    SafeguardSettings,
    quality_retries,
    safeguard_settings,
    summary_reserve_tokens,
)
from compaction_app.engine.compaction.safeguard_source import SafeguardTask
from compaction_app.engine.preflight_failures import reason_class
from compaction_app.engine.rule_sets import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    OPENCLAW_2026_9,
    RULE_SETS,
    RuleSet,
)
from tests.engine.compaction.driving import (
    ABORT,
    ERROR,
    Model,
    assistant,
    branch,
    result,
    user,
)

MODEL = {"provider": "acme", "id": "m", "contextWindow": 200_000, "maxTokens": 8192}
TALK = [m for i in range(4) for m in (user(f"question {i} about tides"), assistant(f"answer {i}"))]
GOOD = "\n".join((*REQUIRED_SECTIONS, "question about tides"))


def task(messages: list[Any] = TALK, **fields: Any) -> SafeguardTask:
    return SafeguardTask(messages, **{"model": MODEL, "reserve_tokens": 16384, **fields})


def run(
    given_task: SafeguardTask,
    model: Model,
    rules: RuleSet = OPENCLAW_2026_5_28,
    **configured: Any,
) -> SafeguardRun:
    made = SafeguardSettings(**{"quality_guard": False, **configured})
    found = model.run(safeguard_compaction(given_task, made, rules, 0))
    assert isinstance(found, SafeguardRun)
    return found


def test_recent_turns_stand_behind_the_summary_and_are_not_summarised() -> None:
    model = Model("S")
    found = run(task(), model, recent_turns_preserve=1)
    assert found.summary is not None
    assert found.summary.startswith("S\n\n## Recent turns preserved verbatim\n- User: question 3")
    assert list(model.calls[0].messages) == TALK[:6]
    assert found.preserved == tuple(TALK[6:])


def test_a_conversation_of_heartbeats_gets_a_boundary_without_a_model() -> None:
    model = Model()
    found = run(task([user("HEARTBEAT_OK"), assistant("NO_REPLY")]), model)
    assert (found.outcome, found.reason, found.files) == ("compacted", "no_real_conversation", None)
    assert model.requests == []


def test_where_the_prepared_messages_are_empty_talk_the_whole_branch_is_summarised() -> None:
    model = Model("S")
    quiet = task([user("HEARTBEAT_OK")], branch=branch([user("tell me of tides"), assistant()]))
    found = run(quiet, model, recent_turns_preserve=0)
    assert found.origin == "branch"
    assert [m["role"] for m in model.calls[0].messages] == ["user", "assistant"]


def test_without_a_model_it_cancels_with_a_reason() -> None:
    found = run(task(model=None), Model())
    assert (found.outcome, found.reason) == ("cancelled", "no_model")
    assert found.cancel_reason == "Compaction safeguard could not resolve a summarization model."


@pytest.mark.parametrize(
    ("credentials", "ending"),
    [(CredentialsAnswer(error="no key"), "acme/m: no key"), (CredentialsAnswer(), "acme/m.")],
)
def test_without_credentials_it_cancels_with_a_reason(
    credentials: CredentialsAnswer, ending: str
) -> None:
    model = Model()
    model.credentials = credentials
    found = run(task(), model)
    assert found.cancel_reason is not None and found.cancel_reason.endswith(ending)


def test_a_message_the_first_version_cannot_measure_cancels_with_a_reason() -> None:
    call = {"type": "toolCall", "id": "a", "name": "exec"}
    odd = [*TALK, {"role": "assistant", "content": [call]}]
    found = run(task(odd), Model("S"), OPENCLAW_2026_3, recent_turns_preserve=0)
    assert (found.outcome, found.reason) == ("cancelled", "failed")
    assert run(task(odd), Model("S"), recent_turns_preserve=0).outcome == "compacted"


def test_headers_alone_are_credentials_enough() -> None:
    model = Model("S")
    model.credentials = CredentialsAnswer(has_headers=True)
    assert run(task(), model, recent_turns_preserve=0).outcome == "compacted"


def test_a_provider_makes_the_summary_without_model_or_credentials() -> None:
    model = Model(provider="from the provider")
    found = run(task(model=None), model, provider="p", recent_turns_preserve=1)
    assert found.summary is not None and found.summary.startswith("from the provider\n\n## Recent")
    assert (found.provider, found.reason) == ("answered", "provider_summary")
    assert [type(request) for request in model.requests] == [ProviderCall]


@pytest.mark.parametrize(("answer", "outcome"), [(" ", "blank"), (7, "blank"), (ERROR, "failed")])
def test_a_provider_that_fails_leaves_the_summary_to_the_model(answer: Any, outcome: str) -> None:
    found = run(task(), Model("S", provider=answer), provider="p", recent_turns_preserve=0)
    assert (found.summary, found.provider) == ("S", outcome)


def test_a_provider_nobody_registered_leaves_the_summary_to_the_model() -> None:
    found = run(task(), Model("S"), provider="p", recent_turns_preserve=0)
    assert (found.summary, found.provider) == ("S", "not_registered")


def test_a_provider_that_is_aborted_ends_the_compaction() -> None:
    found = run(task(), Model(provider=ABORT), provider="p")
    assert (found.outcome, found.failure, found.summary) == ("raised", ABORT, None)


def test_a_bad_summary_is_made_again_with_what_was_missing() -> None:
    model = Model("bad", GOOD)
    found = run(task(), model, quality_guard=True, recent_turns_preserve=0)
    assert found.attempts is not None
    assert [a.outcome for a in found.attempts.attempts] == ["retried", "passed"]
    assert "missing_section:## Decisions" in (model.calls[1].instructions or "")
    assert "Quality check feedback" not in (model.calls[0].instructions or "")


def test_a_summary_that_stays_bad_is_kept() -> None:
    found = run(task(), Model("bad 1", "bad 2"), quality_guard=True, recent_turns_preserve=0)
    assert found.summary == "bad 2"
    assert found.attempts is not None
    assert found.attempts.attempts[-1].outcome == "kept_although_failed"


def test_since_2026_9_a_summary_that_stays_bad_fails_the_compaction() -> None:
    model = Model("bad 1", "bad 2")
    found = run(task(), model, OPENCLAW_2026_9, quality_guard=True, recent_turns_preserve=0)
    assert (found.outcome, found.reason, found.summary) == (
        "cancelled", "failed_quality_check", None,
    )  # fmt: skip
    assert reason_class(found.cancel_reason or "") == "guard_blocked"
    assert found.attempts is not None
    assert [a.outcome for a in found.attempts.attempts] == ["retried", "refused"]


@pytest.mark.parametrize(
    ("rules", "attempts"),
    [(OPENCLAW_2026_3, 1), (OPENCLAW_2026_4_20, 1), (OPENCLAW_2026_5_28, 2)],
)
def test_the_version_decides_whether_quality_is_checked_unasked(
    rules: RuleSet, attempts: int
) -> None:
    found = run(task(), Model("bad"), rules, quality_guard=None, recent_turns_preserve=0)
    assert found.attempts is not None and len(found.attempts.attempts) == attempts


def test_the_beginning_of_a_split_turn_is_summarised_apart() -> None:
    model = Model("history", "beginning")
    split = task(turn_prefix=[user("a long task")], is_split_turn=True)
    found = run(split, model, recent_turns_preserve=0)
    assert found.summary == "history\n\n**Turn Context (split turn):**\n\nbeginning"
    assert found.attempts is not None
    assert found.attempts.draft.text.count("\n\n---\n\n") == 1


def test_what_is_not_summarised_may_push_older_messages_into_a_summary_of_their_own() -> None:
    big = [user("x" * 40_000) for _ in range(4)]
    model = Model("older", "rest")
    found = run(
        task([*big, user("last question")], tokens_before=500_000), model,
        recent_turns_preserve=0, context_window_tokens=60_000,
    )  # fmt: skip
    assert found.history is not None and found.history.run is not None
    assert found.history.decision.reason == "new_content_over_share"
    assert found.history.pruned is not None and found.history.pruned.dropped_messages > 0
    assert found.history.previous_summary == found.history.run.summary


def test_nothing_is_dropped_while_the_size_before_is_unknown() -> None:
    found = run(task(tokens_before=None), Model("S"))
    assert found.history is not None
    assert found.history.decision.reason == "tokens_before_unknown"


def test_failures_files_and_rules_of_the_workspace_are_carried_along() -> None:
    model = Model("S")
    model.agents_md = "## Rules\nnever leak\n"
    failed = result("a", "disk full", isError=True, details={"exitCode": 1})
    found = run(
        task([*TALK, assistant("", "a"), failed], file_operations=FileOperations(read=("/a",))),
        model, recent_turns_preserve=0, post_compaction_sections=("Rules",),
    )  # fmt: skip
    assert found.summary == (
        "S\n\n## Tool Failures\n- exec (exitCode=1): disk full"
        "\n\n<read-files>\n/a\n\n</read-files>"
        "\n\n<workspace-critical-rules>\n## Rules\nnever leak\n</workspace-critical-rules>"
    )


def test_in_the_first_version_preserved_turns_belong_to_the_summary_and_nothing_is_capped() -> None:
    found = run(task(), Model("z" * 20_000), OPENCLAW_2026_3, recent_turns_preserve=1)
    assert found.summary is not None and len(found.summary) > 20_000


SUMMARIES = st.builds(str.__mul__, st.text(min_size=1, max_size=9), st.integers(0, 9000))


@given(
    st.lists(SUMMARIES, min_size=1, max_size=3),
    st.integers(0, 12),
    st.booleans(),
    st.booleans(),
    st.sampled_from([OPENCLAW_2026_4_20.id, OPENCLAW_2026_5_28.id]),
)
@settings(max_examples=40, deadline=None)
def test_a_summary_never_exceeds_its_cap_and_the_same_answers_give_the_same_run(
    answers: list[str], turns: int, split: bool, guard: bool, version: str
) -> None:
    talk = [*TALK, user("x" * 5000), assistant("y" * 5000)] * 3
    given_task = task(talk, turn_prefix=TALK[:2], is_split_turn=split)
    rules = RULE_SETS[version]
    runs = [
        run(given_task, Model(*answers), rules, recent_turns_preserve=turns, quality_guard=guard)
        for _ in range(2)
    ]
    assert runs[0].summary is not None
    assert len(runs[0].summary.encode("utf-16-le", "surrogatepass")) <= 2 * 16_000
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("value", "retries"),
    [(None, 1), (0, 0), (2.9, 2), (9, 3), (-1, 0), ("2", 1), (float("inf"), 1)],
)
def test_retries_are_whole_and_bounded(value: object, retries: int) -> None:
    assert quality_retries(value) == retries


def test_the_settings_are_read_from_the_configuration_and_bad_values_left_out() -> None:
    compaction = {
        "recentTurnsPreserve": 2, "qualityGuard": {"enabled": False, "maxRetries": 2},
        "maxHistoryShare": "0.3", "identifierPolicy": "off", "customInstructions": 7,
        "postCompactionSections": ["A", 1], "provider": "p",
    }  # fmt: skip
    found = safeguard_settings({"agents": {"defaults": {"compaction": compaction}}}, 9000)
    assert found == SafeguardSettings(
        recent_turns_preserve=2, quality_guard=False, max_quality_retries=2,
        context_window_tokens=9000, identifiers=IdentifierPolicy("off"),
        post_compaction_sections=("A",), provider="p",
    )  # fmt: skip
    assert safeguard_settings({}) == SafeguardSettings()


def test_the_reserve_of_a_summary_is_what_the_model_can_write_at_most() -> None:
    assert summary_reserve_tokens(16384, 8192) == 8192
    assert summary_reserve_tokens(16384.9, float("inf")) == 16384
    assert summary_reserve_tokens(0, None) == 1
