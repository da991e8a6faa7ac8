"""What the recorded compactions lost, on the session page and on a page of its own."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from sessions_app import masking
from sessions_app.models import Session
from tests.compaction_app.conftest import Bring
from tests.compaction_app.forgetful import RULES, call, forgetful, mindful, say
from tests.compaction_app.pages.page import HOSTILE, Page, address
from tests.engine.builders import Script, chat


@pytest.fixture
def session(bring: Bring) -> Session:
    return bring(forgetful())


def lost(client: Client, session: Session, query: str = "", **headers: str) -> HttpResponse:
    return client.get(f"/sessions/{session.uuid}/lost/{query}", headers=headers)  # type: ignore[arg-type, return-value]


def text(answer: HttpResponse) -> str:
    return answer.content.decode()


def test_the_list_comes_first_with_constraints_at_its_top(viewer: Client, session: Session) -> None:
    shown = text(lost(viewer, session))
    assert shown.index(RULES[0]) < shown.index("db/schema.sql") < shown.index("By kind")
    assert all(rule in shown for rule in RULES)


def test_each_leads_to_its_place(viewer: Client, session: Session) -> None:
    answer = lost(viewer, session)
    link = next(a["href"] for a in Page(answer).named("a") if "Never" in a["href"])
    assert (
        link
        == f"/sessions/{session.uuid}/entries/0/#block-0:~:text=Never%20touch%20the%20legacy_invoices%20table."
    )
    entry = viewer.get(link.partition("#")[0])
    assert "block-0" in Page(entry).ids()  # type: ignore[arg-type]


def test_it_says_that_survival_is_an_upper_bound(viewer: Client, session: Session) -> None:
    shown = text(lost(viewer, session))
    assert "upper bound" in shown and "83 to 93 %" in shown and "0 to 18 %" in shown


def test_it_shows_how_sure_that_is(viewer: Client, session: Session) -> None:
    assert "held out" in text(lost(viewer, session))


def test_every_compaction_can_be_looked_at(viewer: Client, session: Session) -> None:
    first, second = (text(lost(viewer, session, f"?compaction={n}")) for n in (1, 2))
    assert "compaction 1 of 2" in first and "compaction 2 of 2" in second
    assert "Of the first compaction’s anchors" in second and "OPS-4412" in second
    assert "compaction 1 of 2" in text(lost(viewer, session))
    assert "compaction 2 of 2" in text(lost(viewer, session, "?entry=25"))


@pytest.mark.parametrize(
    "query", ["?compaction=99", "?compaction=x", "?compaction=-1", "?leaf=7&compaction=²"]
)
def test_a_number_that_means_nothing_is_passed_over(
    viewer: Client, session: Session, query: str
) -> None:
    assert lost(viewer, session, query).status_code == 200


def test_the_flush_its_coverage_and_whether_it_was_read(viewer: Client, bring: Bring) -> None:
    shown = text(lost(viewer, bring(forgetful(f"- {RULES[0]}\n")), "?compaction=1"))
    assert "memory/2026-12-01.md" in shown and "in a memory file" in shown
    assert "Read again in" in shown


def test_a_session_without_compactions_says_so(viewer: Client, bring: Bring) -> None:
    plain = bring(chat(5))
    assert "No compaction is recorded" in text(lost(viewer, plain))
    assert 'id="lost"' not in text(viewer.get(address(plain)))  # type: ignore[arg-type]


def test_the_session_page_loads_it_later_and_without_scripts_by_a_link(
    viewer: Client, session: Session
) -> None:
    shown = text(viewer.get(address(session)))  # type: ignore[arg-type]
    assert f'hx-get="/sessions/{session.uuid}/lost/"' in shown
    assert f'<a href="/sessions/{session.uuid}/lost/">' in shown


def test_htmx_is_given_the_section_alone(viewer: Client, session: Session) -> None:
    shown = text(lost(viewer, session, **{"HX-Request": "true"}))
    assert shown.lstrip().startswith('<section id="lost"')


def test_another_teams_session_is_not_there(client: Client, session: Session) -> None:
    client.force_login(User.objects.create_user("stranger"))
    assert lost(client, session).status_code == 404


def test_who_is_not_logged_in_is_sent_to_the_login(client: Client, session: Session) -> None:
    assert lost(client, session).status_code == 302


def test_nothing_can_be_posted(viewer: Client, session: Session) -> None:
    assert viewer.post(f"/sessions/{session.uuid}/lost/").status_code == 405


def test_a_session_that_does_not_exist(viewer: Client, session: Session) -> None:
    assert viewer.get(f"/sessions/{uuid.uuid4()}/lost/").status_code == 404


def test_hostile_texts_are_escaped(viewer: Client, bring: Bring) -> None:
    script = Script().user(f"Never run {HOSTILE} again.")
    call(script, "write", "c1", "ok", path=f"src/{HOSTILE}.py")
    say(script, "\ud800 done in src/\ud800/a.py")
    script.user("Go on.")
    script.compaction("e4", "None.")
    shown = text(lost(viewer, bring(script)))
    assert "<script>alert" not in shown and "<img" not in shown
    assert "&lt;script&gt;" in shown


def test_what_is_masked_stands_in_no_address_either(viewer: Client, session: Session) -> None:
    rule = masking.register(lambda shown: shown.replace("legacy_invoices", "•••"))
    try:
        shown = text(lost(viewer, session))
        assert "legacy_invoices" not in shown and "•••" in shown
    finally:
        masking.unregister(rule)


def test_a_summary_that_keeps_everything_shows_no_constraint(viewer: Client, bring: Bring) -> None:
    answer = lost(viewer, bring(mindful()), "?compaction=1")
    assert not any("constraint" in a.get("class", "") for a in Page(answer).named("li"))
