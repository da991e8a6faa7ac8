"""The policies' pages: versions, what two have differently, and putting one to use."""

from __future__ import annotations

import pytest
from django.urls import reverse

from compaction_app.agent_setup import agent_setup
from compaction_app.models import PolicyVersion
from compaction_app.policies import newest_version, save_version
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent
from tests.builders import short_session
from tests.compaction_app.live import SMALL, live_agent
from tests.compaction_app.pages.page import HOSTILE
from tests.conftest import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(alice: Person) -> Agent:
    return live_agent(alice)


def newest(agent: Agent) -> PolicyVersion:
    found = newest_version(agent)
    assert found is not None
    return found


def shown(person: Person, address: str) -> str:
    response = person.client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_presets_and_versions_are_listed_the_newest_in_force(alice: Person, agent: Agent) -> None:
    save_version(agent, {}, author=alice.user, note="try defaults")
    html = shown(alice, reverse("policies"))
    assert html.index("version 2") < html.index("version 1")
    assert html.count("in force") == 1
    assert "alice" in html and "try defaults" in html and "Small window" in html


def test_without_agents_the_page_says_where_to_make_one(alice: Person) -> None:
    assert "Make an agent" in shown(alice, reverse("policies"))


def test_a_version_is_shown_beside_the_one_before_it(alice: Person, agent: Agent) -> None:
    save_version(agent, {**SMALL, "compaction.reserveTokens": 9_000})
    html = shown(alice, reverse("policy", args=[newest(agent).uuid]))
    assert "1 setting differs" in html and "8,000" in html and "9,000" in html


def test_it_can_be_compared_with_any_other_or_with_the_configuration(
    alice: Person, agent: Agent
) -> None:
    save_version(agent, {})
    save_version(agent, {}, rule_set="openclaw-2026.4.20")
    address = reverse("policy", args=[newest(agent).uuid])
    assert f"{len(SMALL)} settings differ" in shown(alice, f"{address}?with=1")
    html = shown(alice, f"{address}?with=2")
    assert "openclaw-2026.5.28" in html and "No setting differs." not in html.split("rule set")[0]
    assert "0 settings differ" in shown(alice, f"{address}?with=0")


@pytest.mark.parametrize("number", ["9", "-1", "x", "٣", "9" * 30])
def test_an_unknown_number_is_not_there(alice: Person, agent: Agent, number: str) -> None:
    address = reverse("policy", args=[newest(agent).uuid])
    assert alice.client.get(address, {"with": number}).status_code == 404


def test_an_older_version_comes_back_as_a_new_one(alice: Person, agent: Agent) -> None:
    old = newest(agent)
    save_version(agent, {})
    alice.client.post(reverse("restore-policy", args=[old.uuid]), {"seen": "2"})
    made = newest(agent)
    assert (made.number, made.settings, made.author) == (3, old.settings, alice.user)
    assert made.note == "as version 1"


def test_who_has_not_seen_the_newest_version_is_told(alice: Person, agent: Agent) -> None:
    old = newest(agent)
    save_version(agent, {})
    answered = alice.client.post(
        reverse("restore-policy", args=[old.uuid]), {"seen": "1"}, follow=True
    )
    assert "Version 2 was saved meanwhile" in answered.content.decode()
    assert newest(agent).number == 2


def test_a_preset_is_saved_as_a_version(alice: Person, agent: Agent) -> None:
    address = reverse("use-preset", args=[agent.uuid])
    alice.client.post(address, {"preset": "small-window", "seen": "1"})
    made = newest(agent)
    assert made.settings["contextWindow"] == 32_000 and made.note == "preset: Small window"
    assert alice.client.post(address, {"preset": "none"}).status_code == 404


def test_the_policy_of_a_what_if_becomes_the_agents(alice: Person, agent: Agent) -> None:
    session = create_session(agent, "long talk")
    address = f"{reverse('use-what-if', args=[session.uuid])}?compaction.reserveTokens=9000"
    alice.client.post(address)
    made = newest(agent)
    assert made.settings == {**SMALL, "compaction.reserveTokens": 9_000}
    assert made.note == "from a what-if of long talk"
    assert agent_setup(agent).policy.reserve_tokens == 9_000


def test_the_session_page_offers_it_once_something_is_changed(alice: Person, agent: Agent) -> None:
    session = create_session(agent)
    page = reverse("session", args=[session.uuid])
    assert "Use this policy" not in shown(alice, page)
    html = shown(alice, f"{page}?compaction.reserveTokens=9000")
    assert "Use this policy" in html
    assert f"{reverse('use-what-if', args=[session.uuid])}?compaction.reserveTokens=9000" in html


def test_a_session_without_an_agent_has_nothing_to_change(alice: Person) -> None:
    session = alice.imports(short_session().data())
    answered = alice.client.post(reverse("use-what-if", args=[session.uuid]), follow=True)
    assert "belongs to no agent" in answered.content.decode()


def test_a_value_that_is_refused_saves_nothing(alice: Person, agent: Agent) -> None:
    session = create_session(agent)
    address = f"{reverse('use-what-if', args=[session.uuid])}?compaction.mode=wild"
    answered = alice.client.post(address, follow=True)
    assert "is not known" in answered.content.decode()
    assert newest(agent).number == 1


def test_texts_of_a_policy_never_become_markup(alice: Person, agent: Agent) -> None:
    settings = {"compaction.customInstructions": HOSTILE}
    save_version(agent, settings, note=HOSTILE)
    Agent.objects.filter(pk=agent.pk).update(name=HOSTILE)
    for address in (reverse("policies"), reverse("policy", args=[newest(agent).uuid])):
        html = shown(alice, address)
        assert "<script>alert" not in html and "<img src=x" not in html


def test_another_teams_policies_are_not_there(bob: Person, agent: Agent) -> None:
    version, session = newest(agent), create_session(agent)
    assert bob.client.get(reverse("policy", args=[version.uuid])).status_code == 404
    for name, uuid in (
        ("restore-policy", version.uuid),
        ("use-preset", agent.uuid),
        ("use-what-if", session.uuid),
    ):
        assert bob.client.post(reverse(name, args=[uuid])).status_code == 404
    assert str(agent.uuid) not in shown(bob, reverse("policies"))
    assert newest(agent).number == 1


@pytest.mark.parametrize("name", ["restore-policy", "use-preset", "use-what-if"])
def test_what_changes_something_wants_a_post(alice: Person, agent: Agent, name: str) -> None:
    known = {"restore-policy": newest(agent), "use-preset": agent}
    uuid = known[name].uuid if name in known else create_session(agent).uuid
    assert alice.client.get(reverse(name, args=[uuid])).status_code == 405
