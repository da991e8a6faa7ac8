"""What an edit of an agent costs is seen before it is saved, and nothing is saved by looking."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from compaction_app.cost_preview import cost_preview
from sessions_app.models import Agent
from sessions_app.workspace import files_of, write_files
from tests.compaction_app.live import live_agent
from tests.compaction_app.pages.page import HOSTILE
from tests.compaction_app.pages.test_agents import fields, url
from tests.conftest import Person

pytestmark = pytest.mark.django_db

TOOL = {"name": "read", "description": "Reads a file. " * 20, "parameters": {"type": "object"}}


@pytest.fixture
def agent(alice: Person) -> Agent:
    made = live_agent(alice, system_prompt="Be brief.")
    write_files(made, {"AGENTS.md": "Rules. " * 10})
    return made


def test_a_tool_is_weighed_before_it_is_kept(alice: Person, agent: Agent) -> None:
    sent = fields(agent, tools=json.dumps([TOOL]), preview="yes")
    page = alice.client.post(url(agent), sent)
    assert page.status_code == 200
    rows = {row.title: row for row in page.context["preview"].rows}
    assert (rows["tools"].before, rows["instructions"].change) == (None, 0)
    assert rows["tools"].after == rows["tools"].change == page.context["preview"].total.change > 60
    assert "nothing is saved yet" in page.text
    assert "Reads a file. Reads" in page.text  # the form keeps what was typed
    agent.refresh_from_db()
    assert agent.tools == []


def test_a_file_is_weighed_with_what_would_be_cut(alice: Person, agent: Agent) -> None:
    text = "Never do this. " * 2_000
    sent = {"name": "AGENTS.md", "text": text, "action": "preview"}
    page = alice.client.post(url(agent, "agent-file"), sent)
    preview = page.context["preview"]
    (row,) = [row for row in preview.rows if row.title == "files"]
    assert 1_500 < row.change < 7_500  # what goes in of it, not all
    assert preview.cut[0].startswith("AGENTS.md: ") and "of 29,999 characters" in preview.cut[0]
    assert text[:60] in page.text
    assert files_of(agent) == {"AGENTS.md": "Rules. " * 10}


def test_what_is_taken_away_costs_less(agent: Agent) -> None:
    preview = cost_preview(agent, agent, {"AGENTS.md": None})
    assert preview.total.change < 0
    assert {row.title: row.after for row in preview.rows}["files"] is None


def test_an_edit_of_nothing_changes_nothing(agent: Agent) -> None:
    preview = cost_preview(agent, agent, {})
    assert (preview.total.change, preview.total.exact) == (0, 0)


def test_bad_input_is_said_and_others_see_nothing(alice: Person, bob: Person, agent: Agent) -> None:
    bad = {"name": "../x", "text": HOSTILE, "action": "preview"}
    answer = alice.client.post(url(agent, "agent-file"), bad, follow=True)
    assert "is no file name here" in answer.text
    assert alice.client.post(url(agent), fields(agent, tools="{", preview="yes")).status_code == 422
    shown = {"name": "A.md", "text": HOSTILE, "action": "preview"}
    assert HOSTILE not in alice.client.post(url(agent, "agent-file"), shown).text
    assert bob.client.post(url(agent, "agent-file"), shown).status_code == 404
    assert bob.client.post(reverse("agent", args=[agent.uuid]), {"preview": "1"}).status_code == 404
