"""Telling other systems what happens to an agent's sessions: signed, tried again, written down.

A delivery is a row of the transaction that it tells of, so none is lost and none tells of something
that did not happen. Whoever receives it may get it twice, and knows it by its id.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import httpx2
import structlog
from celery import current_app
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import KombuError

from compaction_app.engine.retention.losses import CODES
from compaction_app.models import Webhook, WebhookDelivery
from compaction_app.sealed import Unreadable, seal, unseal
from sessions_app.hidden_secrets import showing
from sessions_app.masking import mask_all
from sessions_app.models import Agent, Session
from sessions_app.writer import Writer

USUAL_KINDS: Final = ("flush", "compaction", "overflow", "verdict")
ALERTS: Final = tuple(code.lower() for code in CODES)
"""What a compaction lost. These quote the transcript, so each address has to ask for them."""
KINDS: Final = (*USUAL_KINDS, *ALERTS)
TASK: Final = "compaction_app.tasks.deliver_webhooks"
PAUSES: Final = tuple(timedelta(seconds=s) for s in (10, 60, 300, 1_800, 7_200, 21_600))
"""After how long a delivery that failed is tried again; after the last one it has failed for good."""
TIMEOUT_SECONDS: Final = 10.0
CLAIM: Final = timedelta(seconds=30)
AT_A_TIME: Final = 50
SECRET_BYTES: Final = 32
OK: Final = range(200, 300)

log = structlog.get_logger("contextlab.webhooks")


def add_webhook(agent: Agent, url: str, kinds: list[str]) -> tuple[Webhook, str]:
    """A new address, and its secret, which is shown this once."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    made = Webhook.objects.create(
        team_id=agent.team_id, agent=agent, url=url, kinds=kinds, sealed_secret=seal(secret)
    )
    return made, secret


def tell(writer: Writer, kind: str, data: Mapping[str, Any]) -> None:
    """Note an event of a session under its lock, and queue it for who wants to be told."""
    number = writer.event(kind, data)
    queue(writer.session, kind, data, number)


def queue(session: Session, kind: str, data: Mapping[str, Any], number: int | None = None) -> None:
    """Deliveries for all addresses that want this kind; sent once the transaction is committed."""
    if session.agent_id is None:
        return
    at = timezone.now()
    rows = []
    showing(session)
    shown = mask_all(dict(data))
    for webhook in Webhook.objects.filter(agent=session.agent_id):
        if kind in webhook.kinds:
            row = WebhookDelivery(
                team_id=session.team_id, webhook=webhook, session=session, kind=kind, next_at=at
            )
            told = {
                "id": str(row.uuid),
                "event": kind,
                "session": str(session.uuid),
                "sequence": number,
                "at": at.isoformat(),
                "data": shown,
            }
            row.body = json.dumps(told, ensure_ascii=True, separators=(",", ":"))
            rows.append(row)
    if rows:
        WebhookDelivery.objects.bulk_create(rows)
        transaction.on_commit(_wake)


def signature(secret: str, moment: int, body: str) -> str:
    """What stands in ``X-ContextLab-Signature``: HMAC-SHA256 over ``<moment>.<body>``, in hex."""
    signed = f"{moment}.{body}".encode()
    return f"v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def deliver_due() -> int:
    """Send what is due; returns how many were sent, whatever came of it."""
    now = timezone.now()
    waiting = WebhookDelivery.objects.filter(state=WebhookDelivery.State.WAITING)
    due = waiting.filter(next_at__lte=now).order_by("next_at").select_related("webhook")
    sent = 0
    for delivery in due[:AT_A_TIME]:
        mine = waiting.filter(pk=delivery.pk, next_at=delivery.next_at)
        if mine.update(next_at=now + CLAIM):  # another worker would find it taken
            _attempt(delivery)
            sent += 1
    return sent


def send_again(delivery: WebhookDelivery) -> None:
    """Try a delivery once more from the beginning, whatever came of it before."""
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        state=WebhookDelivery.State.WAITING, attempts=0, next_at=timezone.now()
    )
    transaction.on_commit(_wake)


def _attempt(delivery: WebhookDelivery) -> None:
    began, at = time.monotonic(), timezone.now()
    status, error = _post(delivery, int(at.timestamp()))
    delivery.attempts += 1
    seconds = round(time.monotonic() - began, 3)
    entry = {"at": at.isoformat(), "status": status, "error": error, "seconds": seconds}
    delivery.log = [*delivery.log, entry]
    if status in OK:
        delivery.state = WebhookDelivery.State.DELIVERED
    elif delivery.attempts > len(PAUSES):
        delivery.state = WebhookDelivery.State.FAILED
    else:
        delivery.next_at = timezone.now() + PAUSES[delivery.attempts - 1]
    delivery.save(update_fields=["attempts", "log", "state", "next_at"])
    log.info("webhook", delivery=str(delivery.uuid), status=status, state=delivery.state)


def _post(delivery: WebhookDelivery, moment: int) -> tuple[int | None, str]:
    """The server's status, or why there is none. What it answers is not looked at."""
    try:
        secret = unseal(delivery.webhook.sealed_secret)
        with httpx2.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False) as client:
            headers = {
                "Content-Type": "application/json",
                "User-Agent": "ContextLab",
                "X-ContextLab-Event": delivery.kind,
                "X-ContextLab-Delivery": str(delivery.uuid),
                "X-ContextLab-Timestamp": str(moment),
                "X-ContextLab-Signature": signature(secret, moment, delivery.body),
            }
            url = delivery.webhook.url
            with client.stream("POST", url, content=delivery.body.encode(), headers=headers) as got:
                return got.status_code, "" if got.status_code in OK else got.reason_phrase[:200]
    except Unreadable as error:
        return None, str(error)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        return None, f"{type(error).__name__}: {error}"[:200]


def _wake() -> None:
    try:
        current_app.send_task(TASK, retry=False)
    except (OSError, KombuError) as error:
        log.warning("webhooks wait for the next sweep", error=str(error))
