"""Files dropped on the page: imported, refused with the reason, or queued."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from sessions_app import uploads
from sessions_app.models import Job, Session
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def send(client: Client, *named: tuple[str, bytes]) -> tuple[str, str]:
    """Where the answer leads, and the page that is shown there."""
    files = [SimpleUploadedFile(name, data) for name, data in named]
    answer = client.post(reverse("upload"), {"files": files})
    assert answer.status_code == 302
    return answer["Location"], client.get(answer["Location"]).content.decode()


def test_it_takes_posts_only(alice: Person) -> None:
    assert alice.client.get(reverse("upload")).status_code == 405


def test_it_wants_the_token_of_the_page(alice: Person) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice.user)
    assert strict.post(reverse("upload")).status_code == 403


def test_it_wants_somebody_who_is_logged_in(client: Client) -> None:
    assert client.post(reverse("upload"))["Location"].startswith("/login/")


def test_no_file_is_said(alice: Person) -> None:
    assert "Choose at least one file" in send(alice.client)[1]


def test_one_file_leads_to_its_session(alice: Person) -> None:
    place, page = send(alice.client, ("notes.jsonl", short_session().data()))
    found = Session.objects.get()
    assert place == reverse("session", args=[found.uuid])
    assert found.team == alice.team
    assert "notes.jsonl was imported." in page


def test_the_same_file_again_says_that_it_has_not_changed(alice: Person) -> None:
    for _ in range(2):
        place, page = send(alice.client, ("notes.jsonl", short_session().data()))
    assert place == reverse("session", args=[Session.objects.get().uuid])
    assert "imported before and has not changed" in page


def test_a_configuration_alone_leads_to_the_session_that_it_now_holds_for(alice: Person) -> None:
    send(alice.client, ("notes.jsonl", short_session().data()))
    place, page = send(alice.client, ("openclaw.json", b"{}"))
    assert place == reverse("session", args=[Session.objects.get().uuid])
    assert "openclaw.json now holds for 1 session." in page


def test_several_files_lead_to_the_list(alice: Person) -> None:
    files = [(f"{n}.jsonl", short_session(n).data()) for n in ("one", "two")]
    assert send(alice.client, *files)[0] == reverse("sessions")
    assert Session.objects.count() == 2


def test_a_refused_file_is_said_with_the_reason(alice: Person) -> None:
    place, page = send(alice.client, ("<b>x</b>.txt", b"hello\n"))
    assert place == reverse("sessions")
    assert "was not imported. No session transcript" in page
    assert "<b>x" not in page


def test_an_empty_file_is_refused(alice: Person) -> None:
    assert "was not imported" in send(alice.client, ("empty.jsonl", b""))[1]


def test_a_large_file_becomes_a_job_that_the_list_shows(alice: Person, data_dir: object) -> None:
    chain = short_session()
    chain.user("x" * uploads.AT_ONCE_BYTES)
    place, page = send(alice.client, ("big.jsonl", chain.data()))
    assert place == reverse("sessions")
    assert Job.objects.get().team == alice.team
    assert "big.jsonl" in page
    assert "waiting for a worker" in page
    assert not Session.objects.exists()


def test_somebody_without_a_team_gets_one_with_the_first_upload(client: Client) -> None:
    client.force_login(User.objects.create_user("lonely"))
    answer = client.post(
        reverse("upload"), {"files": SimpleUploadedFile("x.jsonl", short_session().data())}
    )
    assert answer.status_code == 302
    assert Session.objects.get().team.memberships.get().user.username == "lonely"


def test_an_upload_that_holds_nothing_is_told_so(alice: Person) -> None:
    files = {"files": SimpleUploadedFile("sessions.json", b"{}")}
    page = alice.client.post(reverse("upload"), files, follow=True).content.decode()
    assert "they name no session" in page
