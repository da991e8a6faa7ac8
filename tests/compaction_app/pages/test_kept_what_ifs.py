"""What-ifs that are kept: stored under a name, listed, compared, forgotten."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from compaction_app.kept_what_ifs import MOST_KEPT
from compaction_app.models import KeptWhatIf
from compaction_app.runs import replay_for, situation_of
from sessions_app.models import Session
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import CONFIG, HOSTILE, address
from tests.conftest import Person
from tests.engine.builders import chat

pytestmark = pytest.mark.django_db
FLOOR = "compaction.reserveTokensFloor"


@pytest.fixture
def session(bring: Bring) -> Session:
    return bring(chat(40), CONFIG)


def keep(viewer: Client, session: Session, name: str, **query: Any) -> str:
    """The page after keeping; its messages are shown once."""
    url = reverse("keep-what-if", args=[session.uuid])
    asked = address(session, **query).partition("?")[2]
    return viewer.post(f"{url}?{asked}", {"name": name}, follow=True).text


def test_a_kept_what_if_is_listed_with_its_figures(viewer: Client, session: Session) -> None:
    page = keep(viewer, session, " less  reserve ", **{FLOOR: 8_000})
    kept = KeptWhatIf.objects.get()
    assert (kept.name, kept.address) == ("less reserve", f"{FLOOR}=8000")
    assert "Kept as “less reserve”." in page
    assert f'<a href="?{FLOOR}=8000"' in page
    situation = situation_of(session)
    own = replay_for(situation, situation.policy, situation.around).totals
    assert kept.totals["tokensSent"] != own.tokens_sent
    assert f"{kept.totals['tokensSent']:,}" in page


def test_all_of_them_are_compared_with_the_session_s_own_settings(
    viewer: Client, session: Session
) -> None:
    keep(viewer, session, "one", **{FLOOR: 8_000})
    page = keep(viewer, session, "two", rules="openclaw-2026.3")
    link = reverse("compare", args=[session.uuid])
    query = page.split(f'href="{link}?')[-1].split('"')[0].replace("&amp;", "&")
    compared = viewer.get(f"{link}?{query}").text
    assert "2: 2026.3" in compared and "3: reserveTokensFloor 8,000" in compared


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\0b"])
def test_a_name_that_is_none_is_refused(viewer: Client, session: Session, name: str) -> None:
    assert "Give the what-if a name" in keep(viewer, session, name)
    assert not KeptWhatIf.objects.exists()


def test_a_name_is_taken_once(viewer: Client, session: Session) -> None:
    keep(viewer, session, "same")
    assert "choose another name" in keep(viewer, session, "same", **{FLOOR: 8_000})
    assert KeptWhatIf.objects.get().address == ""


def test_settings_that_are_refused_are_not_kept(viewer: Client, session: Session) -> None:
    assert "out of range" in keep(viewer, session, "bad", **{FLOOR: -1})
    assert not KeptWhatIf.objects.exists()


def test_a_session_keeps_no_more_than_can_be_looked_through(
    viewer: Client, session: Session
) -> None:
    rows = [KeptWhatIf(session=session, name=str(n), entries=1) for n in range(MOST_KEPT)]
    KeptWhatIf.objects.bulk_create(rows)
    assert "delete one" in keep(viewer, session, "one more")


def test_what_has_grown_since_is_marked(viewer: Client, session: Session) -> None:
    KeptWhatIf.objects.create(session=session, name="old", entries=3)
    assert "has grown since" in viewer.get(address(session)).text


def test_a_name_is_shown_as_it_is_and_nothing_else(viewer: Client, session: Session) -> None:
    page = keep(viewer, session, HOSTILE)
    assert HOSTILE not in page and "&lt;script&gt;" in page


def test_it_can_be_forgotten(viewer: Client, session: Session) -> None:
    keep(viewer, session, "gone")
    kept = KeptWhatIf.objects.get()
    url = reverse("forget-what-if", args=[kept.uuid])
    assert viewer.get(url).status_code == 405
    assert "“gone” is forgotten" in viewer.post(url, follow=True).text
    assert not KeptWhatIf.objects.exists()
    assert viewer.post(url).status_code == 404


def test_other_teams_neither_keep_nor_forget(viewer: Client, session: Session, bob: Person) -> None:
    keep(viewer, session, "mine")
    kept = KeptWhatIf.objects.get()
    keeping = reverse("keep-what-if", args=[session.uuid])
    assert bob.client.post(keeping, {"name": "theirs"}).status_code == 404
    assert bob.client.post(reverse("forget-what-if", args=[kept.uuid])).status_code == 404
    assert Client().post(keeping, {"name": "x"}).status_code == 302
    assert viewer.get(keeping).status_code == 405
    assert KeptWhatIf.objects.get() == kept
