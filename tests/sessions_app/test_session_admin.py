"""Sessions, agents, entries and import problems in the admin: found by id, read-only, escaped."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions_app.admin import PROBLEM_KINDS
from sessions_app.models import Agent, Entry, ImportProblem, Session, Window
from sessions_app.payload import pack
from tests.admin_pages import (
    HOSTILE,
    costs_the_same,
    list_of,
    page_of,
    refuses_changes,
    superuser,
    text_at,
)
from tests.conftest import Person


@pytest.fixture
def root(db: None) -> Client:
    return superuser()


@pytest.fixture
def window(alice: Person) -> Window:
    agent = Agent.objects.create(team=alice.team, name=HOSTILE, config_text=HOSTILE)
    session = Session.objects.create(
        team=alice.team, agent=agent, title=HOSTILE, facts={"said": HOSTILE}
    )
    return Window.objects.create(session=session)


def an_entry(window: Window, seq: int) -> Entry:
    payload = pack(f'{{"text": "{HOSTILE}"}}'.encode() * 40)
    return Entry.objects.create(
        window=window, seq=seq, line=seq, entry_id=f"e{seq}", type="message", role="user",
        excerpt=HOSTILE, digest=b"\0", payload=payload,
    )  # fmt: skip


def a_problem(window: Window, line: int) -> ImportProblem:
    return ImportProblem.objects.create(
        window=window, line=line, kind="FILE_BAD_LINE", message=HOSTILE, raw=b"\xff" + HOSTILE.encode()
    )  # fmt: skip


def test_what_happened_is_shown_and_cannot_be_changed(root: Client, window: Window) -> None:
    session = window.session
    assert session.agent is not None
    rows: list[Model] = [session, session.agent, an_entry(window, 1), a_problem(window, 1)]
    within = {Entry: {"q": str(session.uuid)}}
    for row in rows:
        assert "&lt;script&gt;" in text_at(root, list_of(type(row)), within.get(type(row)))
        assert "&lt;script&gt;" in text_at(root, page_of(row))
        refuses_changes(root, row)


def test_everything_is_found_by_the_id_of_its_session(root: Client, window: Window) -> None:
    an_entry(window, 1)
    a_problem(window, 1)
    for model in (Session, Entry, ImportProblem):
        for wanted in (window.session.uuid, *([window.uuid] if model is not Session else [])):
            found = text_at(root, list_of(model), {"q": str(wanted)})
            assert str(window.session.uuid) in found.split("<tbody>")[1]
        for unwanted in (str(uuid4()), HOSTILE, "1"):
            assert "<tbody>" not in text_at(root, list_of(model), {"q": unwanted})


def test_entries_are_narrowed_down_within_a_session(root: Client, window: Window) -> None:
    an_entry(window, 1)
    assert "By role" not in text_at(root, list_of(Entry))
    asked = {"q": str(window.session.uuid)}
    assert "By role" in text_at(root, list_of(Entry), asked)
    assert "<tbody>" in text_at(root, list_of(Entry), {**asked, "role": "user"})
    assert "<tbody>" not in text_at(root, list_of(Entry), {**asked, "role": "assistant"})
    assert "<tbody>" not in text_at(root, list_of(Entry), {**asked, "role": f'"{HOSTILE}'})


def test_lists_cost_as_many_queries_for_many_rows_as_for_few(root: Client, window: Window) -> None:
    def sessions(count: int) -> None:
        for _ in range(count):
            own = Agent.objects.create(team=window.session.team, name="main")
            made = Session.objects.create(team=window.session.team, title="s", agent=own)
            Window.objects.create(session=made)

    def each(make: Callable[[Window, int], object]) -> Callable[[int], None]:
        def add(count: int) -> None:
            sessions(count)
            for n, other in enumerate(Window.objects.order_by("-pk")[:count]):
                make(other, n)

        return add

    costs_the_same(root, Session, sessions)
    costs_the_same(root, Entry, each(an_entry))
    costs_the_same(root, ImportProblem, each(a_problem))


def test_the_list_of_entries_reads_no_payload(root: Client, window: Window) -> None:
    an_entry(window, 1)
    with CaptureQueriesContext(connection) as queries:
        text_at(root, list_of(Entry))
    assert not [q for q in queries if '"payload"' in q["sql"]]


def test_a_long_text_is_shown_as_far_as_a_limit(root: Client, window: Window) -> None:
    agent = Agent.objects.create(team=window.session.team, name="main", config_text="x" * 100_007)
    assert "… 7 more characters" in text_at(root, page_of(agent))


def test_the_filter_knows_every_kind_of_problem_that_importers_write() -> None:
    written = set()
    for path in (Path(settings.BASE_DIR) / "sessions_app" / "importers").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and str(node.value).startswith("FILE_"):
                written.add(str(node.value))
    assert written <= set(PROBLEM_KINDS)


def test_nobody_else_comes_in(alice: Person) -> None:
    for model in (Session, Agent, Entry, ImportProblem):
        assert alice.client.get(list_of(model)).status_code == 302
