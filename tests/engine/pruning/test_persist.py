"""What a session stores of a message."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from compaction_app.engine.pruning.persist import (
    Persisted,
    PersistOptions,
    PersistState,
    ResultOrigin,
    flush_pending,
    persist_message,
    redacted_message,
)
from compaction_app.engine.pruning.persist_rules import (
    PERSIST_2026_3,
    PERSIST_2026_4_20,
    PERSIST_2026_5_28,
    PersistRules,
)
from sessions_app.tokens import javascript as js
from tests.engine.pruning.messages import (
    answer,
    call,
    calls,
    conversations,
    result,
    text_of,
    unchanged,
    user,
)

ALL = [PERSIST_2026_3, PERSIST_2026_4_20, PERSIST_2026_5_28]
CAP = 1000
START = PersistState()
WAITING = PersistState(pending={"A": "read"})


def persisted(
    message: Any,
    state: PersistState = START,
    rules: PersistRules = PERSIST_2026_5_28,
    **options: Any,
) -> Persisted:
    return persist_message(message, state, PersistOptions(max_chars=CAP, **options), rules, 7)


@pytest.mark.parametrize("rules", ALL)
@given(messages=conversations)
def test_a_session_can_be_stored_message_by_message(
    rules: PersistRules, messages: list[dict[str, Any]]
) -> None:
    before = unchanged(messages)
    state = START
    for message in messages:
        done = persisted(message, state, rules)
        state = done.state
        for made in done.changes:
            assert 0 <= int(made.position) < len(done.messages)
        if message["role"] == "user":
            assert not state.pending
    assert messages == before


@given(messages=conversations)
def test_what_is_stored_of_a_result_of_one_block_obeys_the_cap(
    messages: list[dict[str, Any]],
) -> None:
    for message in filter(lambda m: m["role"] == "toolResult", messages):
        (stored,) = persisted(message).messages
        if isinstance(stored["content"], list) and len(stored["content"]) == 1:
            assert js.utf16_len(stored["content"][0].get("text", "")) <= CAP


def test_a_small_result_is_stored_as_it_is() -> None:
    message = result("r", "A")
    done = persisted(message, WAITING)
    assert done.messages[0] is message and done.changes == () and not done.state.pending


def test_a_missing_name_comes_from_the_call() -> None:
    (stored,) = persisted(result("r", "A", name=" "), WAITING).messages
    assert stored["toolName"] == "read"


def test_the_conversation_going_on_writes_error_results_first() -> None:
    done = persisted(user(), WAITING)
    error, message = done.messages
    assert error["isError"] and error["timestamp"] == 7 and message["role"] == "user"
    assert [made.reason for made in done.changes] == ["missing_result"]
    assert not done.state.pending


def test_without_error_results_pending_calls_are_forgotten() -> None:
    done = persisted(user(), WAITING, allow_synthetic_results=False)
    assert len(done.messages) == 1 and not done.state.pending


@pytest.mark.parametrize(("rules", "stored"), [(PERSIST_2026_4_20, 2), (PERSIST_2026_5_28, 1)])
def test_a_mirrored_delivery_leaves_calls_pending_in_the_current_version(
    rules: PersistRules, stored: int
) -> None:
    mirror = {**answer(), "provider": " openclaw ", "model": "delivery-mirror"}
    assert len(persisted(mirror, WAITING, rules).messages) == stored


def test_new_calls_wait_for_their_results() -> None:
    assert persisted(calls("B", "C")).state.pending == {"B": "read", "C": "read"}
    assert not persisted(calls("B", stop="aborted")).state.pending


def test_an_answer_of_invalid_calls_alone_is_not_stored_but_flushes() -> None:
    done = persisted(answer(call("B", "not a name")), WAITING)
    assert not done.stored and done.reason == "no_valid_calls" and len(done.messages) == 1


def test_a_hook_may_keep_a_message_out() -> None:
    for message in (user(), result("r", "A")):
        done = persisted(message, before_write=lambda _message: None)
        assert (done.stored, done.reason, done.messages) == (False, "blocked_by_hook", ())


@pytest.mark.parametrize(("rules", "length"), [(PERSIST_2026_3, 5000), (PERSIST_2026_4_20, CAP)])
def test_later_versions_cap_what_a_hook_writes(rules: PersistRules, length: int) -> None:
    (stored,) = persisted(
        result("r"), START, rules, before_write=lambda m: result("x" * 5000)
    ).messages
    assert len(text_of(stored)) == length


def test_a_transformer_is_told_where_a_result_comes_from() -> None:
    seen: list[ResultOrigin] = []

    def transform(message: Any, origin: ResultOrigin) -> Any:
        seen.append(origin)
        return message

    persisted(result("r", "A"), WAITING, transform_result=transform)
    persisted(user(), WAITING, transform_result=transform)
    assert [origin.is_synthetic for origin in seen] == [False, True]
    assert {(origin.call_id, origin.tool_name) for origin in seen} == {("A", "read")}


def test_messages_can_be_suppressed_in_the_current_version() -> None:
    armed = PersistState(skip_next_user=True)
    done = persisted(user(), armed)
    assert done.reason == "suppressed" and not done.state.skip_next_user
    assert not persisted(answer(), suppress_transcript_only=True).stored
    assert not persisted(answer(stop="error"), suppress_assistant_errors=True).stored
    assert persisted(user(), armed, PERSIST_2026_4_20).stored


def test_details_are_reduced_and_secrets_masked_only_in_the_current_version() -> None:
    message = result("r", details={"big": "z" * 9000, "exitCode": 3, "token": "t"})
    (now,), (then,) = (
        persisted(message).messages,
        persisted(message, rules=PERSIST_2026_4_20).messages,
    )
    assert now["details"]["exitCode"] == 3 and "big" not in now["details"]
    assert persisted(message).changes[0].reason == "details_reduced"
    assert then is message


def test_a_whole_message_is_masked_unless_that_is_off() -> None:
    message = user("my api_key=abcdefghijklmnopqrstuvwxyz ok")
    assert redacted_message(message, None)["content"] == "my api_key=abcdef…wxyz ok"
    assert redacted_message(message, {"redactSensitive": "off"}) is message
    assert redacted_message(user(), None) == user()


def test_flushing_nothing_stores_nothing() -> None:
    options = PersistOptions(max_chars=CAP)
    assert flush_pending(START, options, PERSIST_2026_5_28, 7).messages == ()
