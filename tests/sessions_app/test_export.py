"""An exported session imports again as the same: entries, links, marks, numbers, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sessions_app import store
from sessions_app.export import exported, file_name
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent, Entry, Session
from sessions_app.writing import store_as_sent
from tests.builders import FIRST_MS, Chain, usage
from tests.conftest import Person

Json = dict[str, Any]
SAME = (
    "seq", "line", "entry_id", "parent_seq", "kept_seq", "type", "role", "mark", "at_ms", "model",
    "stop_reason", "tool_name", "tokens", "pressure", "exact", "result_chars", "usage_input",
    "tokens_before", "excerpt", "call_ids",
)  # fmt: skip

texts = st.text(max_size=12)
messages = st.one_of(
    texts.map(lambda text: {"role": "user", "content": text}),
    st.just({"role": "user", "content": "Continue the OpenClaw runtime event."}),
    st.builds(
        lambda text, identity, tokens: {
            "role": "assistant",
            "content": [
                {"type": "text", "text": text},
                {"type": "toolCall", "id": identity, "name": "read", "arguments": {text: 1.5}},
            ],
            "model": "m",
            "usage": usage(tokens, 3),
        },
        texts,
        texts,
        st.integers(0, 10**6),
    ),
    st.builds(
        lambda text, identity: {
            "role": "toolResult",
            "toolCallId": identity,
            "toolName": "read",
            "content": [{"type": "text", "text": text}],
        },
        texts,
        texts,
    ),
)
steps = st.one_of(
    st.tuples(st.just("append"), st.lists(messages, max_size=3)),
    st.tuples(st.just("compact"), st.integers(0, 30)),
    st.tuples(st.just("branch"), st.integers(0, 30)),
)


def write(session: Session, step: tuple[str, Any]) -> None:
    kind, value = step
    if kind == "append":
        store.append(session, value, store_as_sent)
        return
    ids = list(
        Entry.objects.filter(window__session=session).order_by("seq").values_list("entry_id", flat=True)
    )  # fmt: skip
    if not ids:
        return
    with store.writing(session) as writer:
        if kind == "branch":
            message = {"role": "user", "content": f"branch {value}"}
            place = {"parentId": ids[value % len(ids)]}
            writer.append_entries([{"type": "message", "message": message, **place}])
        else:
            kept = {"firstKeptEntryId": ids[value % len(ids)], "tokensBefore": value}
            writer.append_entries([{"type": "compaction", "summary": f"s {value}", **kept}])


@pytest.fixture
def agent(alice: Person) -> Agent:
    return Agent.objects.create(team=alice.team, name="main", is_live=True)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, max_size=8))
@example([("append", [{"role": "user", "content": ""}]), ("compact", 0), ("compact", 0)])
def test_what_was_written_live_imports_as_the_same_session(
    alice: Person, agent: Agent, history: list[tuple[str, Any]]
) -> None:
    session = create_session(agent, now_ms=FIRST_MS)
    for step in history:
        write(session, step)
    data = b"".join(exported(session))
    window = session.windows.get()
    assert len(data) == window.content_bytes
    if not window.entry_count:
        return
    again = alice.imports(data)
    stored = Entry.objects.filter(window__session=session).order_by("seq").values_list(*SAME)
    read = Entry.objects.filter(window__session=again).order_by("seq").values_list(*SAME)
    assert list(read) == list(stored)
    assert b"".join(exported(again)) == data
    copy = again.windows.get()
    assert (copy.external_id, copy.content_lines) == (window.external_id, window.content_lines)


def test_an_import_never_continues_a_live_session(alice: Person, agent: Agent) -> None:
    session = create_session(agent)
    store.append(session, [{"role": "user", "content": "x"}], store_as_sent)
    data = b"".join(exported(session))
    again = alice.imports(data)
    assert again != session and not again.is_live
    assert alice.imports(data) == again


def test_an_old_file_is_exported_as_version_3(alice: Person) -> None:
    chain = Chain(version=1)
    chain.user("hello")
    chain.assistant("hi", usage(100, 3))
    first = alice.imports(chain.data())
    data = b"".join(exported(first))
    assert b'"version":3' in data.splitlines()[0]
    again = alice.imports(data, "again.jsonl")
    assert again.windows.get().version == 3
    same = ("seq", "entry_id", "parent_seq", "role", "tokens", "at_ms")
    stored = Entry.objects.filter(window__session=first).order_by("seq").values_list(*same)
    assert list(Entry.objects.filter(window__session=again).order_by("seq").values_list(*same)) == list(stored)  # fmt: skip


def test_a_file_name_is_safe_whatever_the_title(agent: Agent) -> None:
    session = create_session(agent, '../a "b"\r\nc.jsonl')
    assert file_name(session) == "a-b-c.jsonl"
    session.title = "…"
    assert file_name(session) == f"{session.uuid}.jsonl"
