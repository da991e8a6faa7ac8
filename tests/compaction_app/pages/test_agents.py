"""The agents' pages: what they show, what they change, and who sees them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from compaction_app.agent_forms import AgentForm
from compaction_app.connection_models import ModelConnection
from compaction_app.engine.circumstances import PATHS
from compaction_app.live_turns import report_call
from sessions_app.batches import import_files
from sessions_app.folders import walk
from sessions_app.imports import Source
from sessions_app.live_sessions import create_session
from sessions_app.management.commands.load_samples import SAMPLES
from sessions_app.models import Agent
from sessions_app.workspace import files_of, write_files
from tests.compaction_app.live import answer, live_agent, user
from tests.compaction_app.pages.page import HOSTILE
from tests.conftest import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(alice: Person) -> Agent:
    return live_agent(alice)


def url(agent: Agent, name: str = "agent") -> str:
    return reverse(name, args=[agent.uuid])


def fields(agent: Agent, **changed: Any) -> dict[str, Any]:
    """What the form of the page sends, with some of it changed; none takes a field away."""
    form = AgentForm(instance=agent)
    sent = {name: form[name].value() for name in form.fields} | changed
    return {k: ("on" if v is True else v) for k, v in sent.items() if v not in (None, False)}


def shown(person: Person, address: str) -> str:
    response = person.client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_the_list_shows_each_agent_with_its_sessions_and_policy(
    alice: Person, agent: Agent
) -> None:
    create_session(agent)
    Agent.objects.create(team=alice.team, name="older")
    html = shown(alice, reverse("agents"))
    assert "anthropic/claude-test" in html and "version 1" in html
    assert "older" in html and "its configuration" in html


def test_without_agents_the_list_says_how_to_get_one(alice: Person) -> None:
    assert "No agents yet" in shown(alice, reverse("agents"))


def test_a_new_agent_is_fed_through_the_api(alice: Person) -> None:
    made = alice.client.post(reverse("agents"), {"name": "new", "provider": "p", "model": "m"})
    agent = Agent.objects.get()
    assert made.headers["Location"] == url(agent)
    assert (agent.team, agent.is_live, agent.flush_first) == (alice.team, True, True)


def test_an_agent_needs_a_name(alice: Person) -> None:
    refused = alice.client.post(reverse("agents"), {"name": "  "})
    assert refused.status_code == 422 and Agent.objects.count() == 0
    assert "This field is required" in refused.content.decode()


def test_what_each_part_costs_is_shown_in_tokens_and_as_a_share(
    alice: Person, agent: Agent
) -> None:
    agent.system_prompt = "x" * 4_000
    agent.tools = [{"name": "read", "description": "y" * 1_000, "parameters": {}}]
    agent.save()
    write_files(agent, {"SOUL.md": "kind", "HEARTBEAT.md": "mail"})
    html = shown(alice, url(agent))
    for part in ("instructions", "tools", "files", "changing files", "every call"):
        assert part in html
    assert "1,000" in html and "3.1 %" in html and "behind the cache boundary" in html


def test_an_agent_without_anything_says_so(alice: Person) -> None:
    html = shown(alice, url(Agent.objects.create(team=alice.team, name="bare")))
    assert "Nothing yet: no instructions" in html and "No files." in html


def test_fields_are_changed_and_hold_from_the_next_call_on(alice: Person, agent: Agent) -> None:
    sent = fields(
        agent,
        path="agent",
        time_zone="Europe/Berlin",
        maxTokens="4096",
        flush_by="agent",
        flush_first=None,
        tools='[{"name": "read", "parameters": {"type": "object"}}]',
    )
    assert alice.client.post(url(agent), sent).status_code == 302
    agent.refresh_from_db()
    assert (agent.path, agent.time_zone, agent.flush_by) == ("agent", "Europe/Berlin", "agent")
    assert agent.windows == {"maxTokens": 4096} and agent.flush_first is False
    assert agent.tools == [{"name": "read", "parameters": {"type": "object"}}]
    html = shown(alice, url(agent))
    assert 'value="Europe/Berlin"' in html and "4096" in html


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"name": ""}, "required"),
        ({"path": "carrier pigeon"}, "Select a valid choice"),
        ({"time_zone": "Mars/Phobos"}, "There is no time zone"),
        ({"contextWindow": "-4"}, "greater than or equal to 1"),
        ({"contextWindow": "many"}, "Enter a whole number"),
        ({"tools": "{"}, "This is not JSON"),
        ({"tools": '[{"title": "x"}]'}, "each with a"),
        ({"skills": '"text"'}, "each with a"),
        ({"tools": json.dumps([{"name": "x"}] * 501)}, "At most 500"),
        ({"flush_summariser": "nobody"}, "Select a valid choice"),
        ({"flush_by": "nobody"}, "Select a valid choice"),
        ({"system_prompt": "a\x00b"}, "Null characters"),
    ],
)
def test_what_cannot_be_kept_is_said_beside_its_field_and_nothing_is_saved(
    alice: Person, agent: Agent, changed: dict[str, str], complaint: str
) -> None:
    refused = alice.client.post(url(agent), fields(agent, model="other", **changed))
    assert refused.status_code == 422
    html = refused.content.decode()
    assert complaint in html and "Nothing was saved" in html
    agent.refresh_from_db()
    assert agent.model == "claude-test"


def test_the_models_of_the_team_can_write_its_summaries(alice: Person, agent: Agent) -> None:
    ModelConnection.objects.create(
        team=alice.team, name="small", kind="openai", base_url="http://127.0.0.1", model="m"
    )
    sent = fields(agent, compaction_summariser="small")
    assert alice.client.post(url(agent), sent).status_code == 302
    agent.refresh_from_db()
    assert (agent.compaction_summariser, agent.flush_summariser) == ("small", "extractive")
    ModelConnection.objects.all().delete()
    assert '<option value="small" selected>' in shown(alice, url(agent))


def test_workspace_files_are_written_opened_and_taken_away(alice: Person, agent: Agent) -> None:
    sent = {"name": "SOUL.md", "text": "be kind\r\n", "action": "write"}
    written = alice.client.post(url(agent, "agent-file"), sent)
    assert written.headers["Location"] == f"{url(agent)}?file=SOUL.md#files"
    assert files_of(agent) == {"SOUL.md": "be kind\n"}
    assert "be kind" in shown(alice, f"{url(agent)}?file=SOUL.md")
    alice.client.post(url(agent, "agent-file"), {"name": "SOUL.md", "action": "delete"})
    assert files_of(agent) == {}


def test_a_bad_file_name_is_refused_in_words(alice: Person, agent: Agent) -> None:
    sent = {"name": "../x", "text": "", "action": "write"}
    answered = alice.client.post(url(agent, "agent-file"), sent, follow=True)
    assert "is no file name here" in answered.content.decode()
    assert files_of(agent) == {}


def test_the_text_that_follows_a_compaction_is_shown(alice: Person) -> None:
    agent = live_agent(alice, {"compaction.postCompactionSections": ["Red Lines"]})
    assert "the workspace has no AGENTS.md" in shown(alice, url(agent))
    write_files(agent, {"AGENTS.md": "# A\n\n## Red Lines\n\nNever lie.\n\n## Other\n\nx"})
    html = shown(alice, url(agent))
    assert "Put before the model after each compaction. Sections: Red Lines." in html
    assert "Never lie." in html


def test_nothing_an_agent_holds_becomes_markup(alice: Person, agent: Agent) -> None:
    Agent.objects.filter(pk=agent.pk).update(
        name=HOSTILE,
        model=HOSTILE,
        system_prompt=HOSTILE,
        tools=[{"name": HOSTILE}],
        compaction_summariser=HOSTILE[:100],
    )
    agent.refresh_from_db()
    write_files(agent, {"SOUL.md": HOSTILE})
    report_call(create_session(agent, HOSTILE), [user(HOSTILE), answer(HOSTILE, 10)])
    for address in (url(agent), f"{url(agent)}?file=SOUL.md", reverse("agents")):
        html = shown(alice, address)
        assert "<script>alert" not in html and "<img src=x" not in html


@pytest.mark.parametrize("name", ["agent", "memory"])
def test_another_teams_agent_is_not_there(bob: Person, agent: Agent, name: str) -> None:
    assert bob.client.get(url(agent, name)).status_code == 404
    assert str(agent.uuid) not in shown(bob, reverse("agents"))


def test_another_team_changes_nothing(bob: Person, agent: Agent) -> None:
    assert bob.client.post(url(agent), fields(agent, model="x")).status_code == 404
    sent = {"name": "A.md", "text": "x", "action": "write"}
    assert bob.client.post(url(agent, "agent-file"), sent).status_code == 404
    agent.refresh_from_db()
    assert agent.model == "claude-test" and files_of(agent) == {}


def test_methods_that_make_no_sense_are_refused(alice: Person, agent: Agent) -> None:
    assert alice.client.get(url(agent, "agent-file")).status_code == 405
    assert alice.client.delete(url(agent)).status_code == 405
    assert alice.client.post(url(agent, "memory")).status_code == 405
    assert alice.client.get("/agents/not-a-uuid/").status_code == 404


def test_every_path_can_be_chosen(alice: Person, agent: Agent) -> None:
    html = shown(alice, url(agent))
    assert all(f'<option value="{path}"' in html for path in PATHS)


def test_an_imported_agent_shows_the_model_and_window_of_its_newest_session(alice: Person) -> None:
    folder = SAMPLES / "keep-small-32k"
    sources = [Source.of_path(p, p.relative_to(folder).as_posix()) for p in walk(folder)]
    list(import_files(alice.team, sources))
    html = shown(alice, url(Agent.objects.get()))
    assert "mock/filler-1" in html and "unknown model" not in html
    assert "window <b>32,000</b> tokens" in html


def test_an_agent_without_a_model_and_sessions_is_of_an_unknown_model(alice: Person) -> None:
    html = shown(alice, url(Agent.objects.create(team=alice.team, name="bare")))
    assert "unknown model" in html
