"""Workspace files: kept by digest, and found again as each call saw them."""

from __future__ import annotations

import pytest

from sessions_app import store
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent, WorkspaceSnapshot, WorkspaceText, WorkspaceUse
from sessions_app.workspace import (
    MAX_BYTES,
    MAX_FILES,
    BadFile,
    files_at,
    files_of,
    snapshot_of_call,
    write_files,
)
from sessions_app.writing import store_as_sent
from tests.conftest import Person


@pytest.fixture
def agent(alice: Person) -> Agent:
    return Agent.objects.create(team=alice.team, name="main", is_live=True)


def test_files_are_written_replaced_and_taken_away(agent: Agent) -> None:
    write_files(agent, {"SOUL.md": "be kind", "AGENTS.md": "# Rules\r\nnone"})
    assert files_of(agent) == {"AGENTS.md": "# Rules\nnone", "SOUL.md": "be kind"}
    write_files(agent, {"SOUL.md": None, "AGENTS.md": "", "notes/a b.md": "x"})
    assert files_of(agent) == {"AGENTS.md": "", "notes/a b.md": "x"}


def test_equal_texts_and_equal_workspaces_are_kept_once(agent: Agent) -> None:
    first = write_files(agent, {"A.md": "same", "B.md": "same"})
    assert WorkspaceText.objects.count() == 1
    write_files(agent, {"A.md": "other"})
    assert write_files(agent, {"A.md": "same"}) == first
    assert WorkspaceSnapshot.objects.count() == 2


@pytest.mark.parametrize("name", ["", "../x", "/etc/passwd", "a//b", "a\x00", ".env", "x" * 201])
def test_a_name_that_leads_elsewhere_is_refused(agent: Agent, name: str) -> None:
    with pytest.raises(BadFile):
        write_files(agent, {"OK.md": "x", name: "x"})
    assert files_of(agent) == {}


def test_size_and_number_have_limits(agent: Agent) -> None:
    with pytest.raises(BadFile, match="larger than"):
        write_files(agent, {"A.md": "ä" * (MAX_BYTES // 2 + 1)})
    with pytest.raises(BadFile, match="at most"):
        write_files(agent, {f"{n}.md": "" for n in range(MAX_FILES + 1)})
    assert files_of(agent) == {}


def test_each_call_is_known_with_the_files_it_saw(agent: Agent) -> None:
    session = create_session(agent)
    said = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    store.append(session, said, store_as_sent)
    for text in ("old", "new"):
        write_files(agent, {"A.md": text})
        store.append(session, said, store_as_sent)
        store.append(session, said, store_as_sent)
    window = session.windows.get()
    seen = [snapshot_of_call(window, seq) for seq in (1, 3, 5, 7, 9)]
    texts = [files_at(snapshot)["A.md"] if snapshot else None for snapshot in seen]
    assert texts == [None, "old", "old", "new", "new"]
    assert WorkspaceUse.objects.count() == 2
