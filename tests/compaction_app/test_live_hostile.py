"""Whatever an agent sends, a live session takes it or refuses it in words, and can be prepared again."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compaction_app import live_turns
from compaction_app.next_step import NothingToSend
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent
from sessions_app.writing import BadMessage
from tests.compaction_app.live import live_agent
from tests.conftest import Person

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**20), st.floats(), st.text(max_size=5)
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
KINDS = ("text", "thinking", "toolCall", "toolUse", "image")
blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS)},
    optional=dict.fromkeys(("text", "id", "name", "arguments", "thinking", "data"), values),
)
ROLES = (
    "user",
    "assistant",
    "toolResult",
    "custom",
    "system",
    "bashExecution",
    "branchSummary",
    "x",
)
FIELDS = (
    "timestamp", "usage", "stopReason", "errorMessage", "toolCallId", "toolName", "details", "provider",
    "model", "summary", "isError", "command", "type",
)  # fmt: skip
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(ROLES)},
    optional={
        "content": st.one_of(values, st.lists(st.one_of(values, blocks), max_size=3)),
        **dict.fromkeys(FIELDS, values),
    },
)


@pytest.fixture
def agent(alice: Person) -> Agent:
    return live_agent(alice, {"contextPruning.mode": "cache-ttl", "compaction.mode": "safeguard"})


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(messages, min_size=1, max_size=4), st.none() | messages, st.booleans())
def test_nothing_that_is_sent_breaks_a_session(
    agent: Agent, sent: list[Any], prompt: Any, reports: bool
) -> None:
    session = create_session(agent)
    send = live_turns.report_call if reports else live_turns.append
    with suppress(BadMessage):
        send(session, sent)
    with suppress(BadMessage, NothingToSend):
        live_turns.prepare(session, prompt)


def test_an_answer_that_no_prompt_came_before_is_kept(agent: Agent) -> None:
    session = create_session(agent)
    reported = live_turns.report_call(session, [{"role": "assistant", "content": "Welcome"}])
    assert reported.next is None and reported.appended.entries == 1
    assert live_turns.prepare(session, {"role": "user", "content": "hi"}).next.action == "send"
