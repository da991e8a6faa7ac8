"""Versions of policies and notes of memory in the admin: read-only, found by id, escaped."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db.models import Model
from django.test import Client

from compaction_app.models import MemoryFile, MemoryNote, PolicyVersion
from sessions_app.models import Agent, Session
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


def kept(person: Person) -> tuple[PolicyVersion, MemoryFile, MemoryNote]:
    """An agent of its own, with a version of its policy and a note of its memory."""
    agent = Agent.objects.create(team=person.team, name=HOSTILE)
    session = Session.objects.create(team=person.team, agent=agent, title=HOSTILE)
    policy = PolicyVersion.objects.create(
        agent=agent, number=1, settings={"compaction.mode": HOSTILE}, author=person.user,
        rule_set="openclaw-2026.5.28", note=HOSTILE,
    )  # fmt: skip
    file = MemoryFile.objects.create(team=person.team, agent=agent, name="memory/2026-01-01.md")
    note = MemoryNote.objects.create(file=file, text=HOSTILE, session=session, flush=str(uuid4()))
    return policy, file, note


def test_they_are_shown_and_cannot_be_changed(root: Client, alice: Person) -> None:
    rows: tuple[Model, ...] = kept(alice)
    for row in rows:
        assert "&lt;script&gt;" in text_at(root, list_of(type(row)))
        assert "&lt;script&gt;" in text_at(root, page_of(row))
        refuses_changes(root, row)


def test_they_are_found_by_the_id_of_what_they_are_of(root: Client, alice: Person) -> None:
    policy, file, note = kept(alice)
    ways = {
        PolicyVersion: (policy.uuid, policy.agent.uuid),
        MemoryFile: (file.uuid, file.agent.uuid, file.team.uuid),
        MemoryNote: (file.uuid, note.session.uuid if note.session else None),
    }
    for model, ids in ways.items():
        for wanted in ids:
            assert "<tbody>" in text_at(root, list_of(model), {"q": str(wanted)})
        assert "<tbody>" not in text_at(root, list_of(model), {"q": str(uuid4())})


def test_a_version_leads_to_its_page(root: Client, alice: Person) -> None:
    policy, _, _ = kept(alice)
    assert f'href="/policies/{policy.uuid}/"' in text_at(root, list_of(PolicyVersion))
    assert "<tbody>" in text_at(root, list_of(PolicyVersion), {"rule_set": policy.rule_set})


def test_lists_cost_as_many_queries_for_many_rows_as_for_few(root: Client, alice: Person) -> None:
    for model in (PolicyVersion, MemoryFile, MemoryNote):
        model._default_manager.all().delete()
        costs_the_same(root, model, lambda count: [kept(alice) for _ in range(count)])
