"""Telling other systems: signed, tried again, written down, and only of what happened."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from compaction_app import live_turns, webhooks
from compaction_app.compaction_jobs import request_compaction
from compaction_app.flush_jobs import request_flush
from compaction_app.models import Webhook, WebhookDelivery
from compaction_app.runs import write_summary
from compaction_app.tasks import compact_session, flush_session
from sessions_app.models import Event, Session
from sessions_app.store import writing
from tests.compaction_app.compacting import talk
from tests.compaction_app.live import live_session, user
from tests.compaction_app.pages.page import HOSTILE
from tests.conftest import Person, Settings
from tests.summarisers.loopback import Handler, Loopback, refusing, serving

pytestmark = pytest.mark.django_db


def accepting(handler: Handler) -> None:
    handler.send_response(204)
    handler.end_headers()


@pytest.fixture
def session(alice: Person) -> Session:
    made = live_session(alice)
    talk(made)
    return made


def hook(
    session: Session, url: str, kinds: tuple[str, ...] = webhooks.KINDS
) -> tuple[Webhook, str]:
    assert session.agent is not None
    return webhooks.add_webhook(session.agent, url, list(kinds))


def tell(session: Session, **data: Any) -> WebhookDelivery:
    with writing(session) as writer:
        webhooks.tell(writer, "flush", data)
    return WebhookDelivery.objects.latest("pk")


def seen(server: Loopback) -> tuple[dict[str, str], Any]:
    _, headers, body = server.seen[-1]
    return headers, body


def later(delivery: WebhookDelivery) -> None:
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        next_at=timezone.now() - timedelta(seconds=1)
    )


def test_an_event_is_sent_signed(session: Session) -> None:
    with serving(accepting) as server:
        _, secret = hook(session, f"{server.url}/hook")
        delivery = tell(session, notes=1)
        assert webhooks.deliver_due() == 1
        headers, body = seen(server)
    event = Event.objects.latest("pk")
    assert body == {
        "id": str(delivery.uuid), "event": "flush", "session": str(session.uuid),
        "sequence": event.sequence, "at": body["at"], "data": {"notes": 1},
    }  # fmt: skip
    signed = f"{headers['x-contextlab-timestamp']}.{delivery.body}".encode()
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["x-contextlab-signature"] == f"v1={expected}"
    assert (headers["x-contextlab-event"], headers["x-contextlab-delivery"]) == (
        "flush", str(delivery.uuid),
    )  # fmt: skip
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.log[0]["status"]) == ("delivered", 1, 204)
    assert webhooks.deliver_due() == 0


@pytest.mark.parametrize("status", [301, 400, 404, 500, 503])
def test_what_was_refused_is_tried_again_later(session: Session, status: int) -> None:
    with serving(refusing(status, Location="/other"), accepting) as server:
        hook(session, server.url)
        delivery = tell(session)
        before = timezone.now()
        webhooks.deliver_due()
        assert webhooks.deliver_due() == 0
        delivery.refresh_from_db()
        assert (delivery.state, delivery.log[0]["status"]) == ("waiting", status)
        assert delivery.next_at >= before + webhooks.PAUSES[0]
        later(delivery)
        webhooks.deliver_due()
        assert len(server.seen) == 2  # and a redirection is not followed
        first, second = (body for _, _, body in server.seen)
        assert first == second
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("delivered", 2)


def test_it_is_given_up_in_the_end_and_can_be_sent_again(session: Session) -> None:
    with serving(refusing(500)) as server:
        hook(session, server.url)
        delivery = tell(session)
        for _ in range(len(webhooks.PAUSES) + 1):
            later(delivery)
            webhooks.deliver_due()
        delivery.refresh_from_db()
        assert (delivery.state, len(delivery.log)) == ("failed", 7)
        later(delivery)
        assert webhooks.deliver_due() == 0
        server.script = (accepting,)
        webhooks.send_again(delivery)
        webhooks.deliver_due()
    delivery.refresh_from_db()
    assert (delivery.state, len(delivery.log)) == ("delivered", 8)


def test_a_server_that_is_not_there_is_an_error_with_a_reason(session: Session) -> None:
    hook(session, "http://127.0.0.1:9/hook")
    delivery = tell(session)
    webhooks.deliver_due()
    delivery.refresh_from_db()
    assert delivery.log[0]["status"] is None
    assert "ConnectError" in delivery.log[0]["error"]


def test_a_secret_that_cannot_be_read_is_an_error_as_well(
    session: Session, settings: Settings
) -> None:
    hook(session, "http://127.0.0.1:9/hook")
    delivery = tell(session)
    settings.SECRET_KEY = "another key of this site, long enough for it"
    webhooks.deliver_due()
    delivery.refresh_from_db()
    assert "SECRET_KEY" in delivery.log[0]["error"]


def test_a_delivery_is_taken_by_one_worker(session: Session) -> None:
    """While one sends, another that looks finds nothing to do."""
    found: list[int] = []

    with serving(accepting) as server:
        hook(session, server.url)
        tell(session)
        attempt = webhooks._attempt

        def both(delivery: WebhookDelivery) -> None:
            found.append(webhooks.deliver_due())
            attempt(delivery)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(webhooks, "_attempt", both)
            assert webhooks.deliver_due() == 1
        assert (found, len(server.seen)) == ([0], 1)


def test_nothing_is_told_of_what_did_not_happen(session: Session) -> None:
    hook(session, "http://127.0.0.1:9/hook")
    with pytest.raises(RuntimeError), transaction.atomic(), writing(session) as writer:
        webhooks.tell(writer, "flush", {})
        raise RuntimeError
    assert not WebhookDelivery.objects.exists()


def test_only_wanted_kinds_are_told_to_the_agents_own_addresses(
    session: Session, alice: Person
) -> None:
    hook(session, "http://one.example/", ("compaction",))
    other = live_session(alice, name="other")
    hook(other, "http://two.example/")
    with writing(session) as writer:
        webhooks.tell(writer, "flush", {})
    assert not WebhookDelivery.objects.exists()


def kinds() -> set[str]:
    return set(WebhookDelivery.objects.values_list("kind", flat=True))


def test_flushes_and_compactions_are_told(session: Session) -> None:
    hook(session, "http://127.0.0.1:9/hook")
    flush_session(str(request_flush(session).uuid))
    compact_session(str(request_compaction(session).uuid))
    assert kinds() >= {"flush", "compaction"}
    told = json.loads(WebhookDelivery.objects.get(kind="compaction").body)
    assert told["data"]["outcome"] == "compacted"


def test_an_overflow_is_told(session: Session) -> None:
    hook(session, "http://127.0.0.1:9/hook")
    error = "400 Bad Request: this model's maximum context length is 32000 tokens"
    live_turns.report_call(session, [user("too much")], error=error)
    told = json.loads(WebhookDelivery.objects.get(kind="overflow").body)
    assert told["data"]["next"] in ("compact", "send", "blocked")


def test_an_error_that_is_no_overflow_is_told_to_nobody(session: Session) -> None:
    hook(session, "http://127.0.0.1:9/hook")
    live_turns.report_call(session, [user("Hi")], error="529 overloaded, try again")
    assert "overflow" not in kinds()


def test_a_changed_verdict_is_told_once(session: Session) -> None:
    hook(session, "http://127.0.0.1:9/hook", ("verdict",))
    session.summary = {"verdict": [{"text": "something else", "severity": "warn", "help": ""}]}
    session.save(update_fields=["summary"])
    write_summary(session)
    write_summary(session)
    assert WebhookDelivery.objects.filter(kind="verdict").count() == 1
    assert Event.objects.filter(session=session, kind="verdict").count() == 1


# Pages


def url_of(session: Session) -> str:
    assert session.agent is not None
    return reverse("webhooks", args=[session.agent.uuid])


def test_an_address_is_added_and_its_secret_shown_once(alice: Person, session: Session) -> None:
    answer = alice.client.post(url_of(session), {"url": "http://x.example/", "kinds": ["flush"]})
    made = Webhook.objects.get()
    html = answer.content.decode()
    assert "shown only now" in html and made.sealed_secret not in html
    assert "shown only now" not in alice.client.get(url_of(session)).content.decode()
    tell(session)
    webhooks_page = alice.client.get(url_of(session)).content.decode()
    assert "http://x.example/" in webhooks_page and "none yet" in webhooks_page


@pytest.mark.parametrize(
    "form",
    [
        {"url": "ftp://x", "kinds": ["flush"]},
        {"url": "nonsense", "kinds": ["flush"]},
        {"url": "http://x:99999/", "kinds": ["flush"]},
        {"url": "http://x.example/", "kinds": []},
        {"url": "http://x.example/", "kinds": ["everything"]},
        {},
    ],
)
def test_what_cannot_be_is_refused(alice: Person, session: Session, form: dict[str, Any]) -> None:
    assert alice.client.post(url_of(session), form).status_code == 422
    assert not Webhook.objects.exists()


def test_what_it_holds_is_escaped_and_others_see_nothing(
    alice: Person, bob: Person, session: Session
) -> None:
    made, _ = hook(session, f"http://x.example/{HOSTILE}")
    delivery = tell(session)
    html = alice.client.get(url_of(session)).content.decode()
    assert HOSTILE not in html
    assert bob.client.get(url_of(session)).status_code == 404
    for name, one in (("webhook-delete", made), ("delivery-again", delivery)):
        url = reverse(name, args=[one.uuid])
        assert bob.client.post(url).status_code == 404
        assert alice.client.get(url).status_code == 405
        assert alice.client.post(url).status_code == 302
        if name == "webhook-delete":
            made.pk = None
            made.save()
            delivery.pk, delivery.webhook = None, made
            delivery.save()
    assert WebhookDelivery.objects.get().state == "waiting"
