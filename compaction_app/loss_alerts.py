"""Telling who listens that a compaction of a live session lost something: once for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction_app import webhooks
from compaction_app.engine.retention.losses import Loss, losses_from_json
from sessions_app import events
from sessions_app.entries import sendable
from sessions_app.masking import mask
from sessions_app.models import Session


def tell_of_losses(session: Session, before: Mapping[str, Any] | None) -> None:
    """Say what is lost now and was not before; ``before`` is what the session's summary held."""
    now = session.summary["losses"]
    if not session.is_live:
        return
    known = losses_from_json((before or {}).get("of")) or ()
    is_same_window = (before or {}).get("window") == now["window"]
    for kind, data in news(known if is_same_window else (), losses_from_json(now["of"]) or ()):
        event = events.announce(session, kind, data)
        webhooks.queue(session, kind, data, event.sequence)


def news(before: Sequence[Loss], now: Sequence[Loss]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is true of a compaction and was not before: the kind of event, and what it says."""
    known = {(loss.entry, code) for loss in before for code in loss.codes}
    for loss in now:
        for code in loss.codes:
            if (loss.entry, code) not in known:
                yield code.lower(), {"code": code, "entry": loss.entry, **_figures(code, loss)}


def _figures(code: str, loss: Loss) -> dict[str, Any]:
    if code == "CONSTRAINT_LOST":
        return {"count": loss.constraint_count, "first": list(map(_shown, loss.constraints))}
    if code == "IDENTIFIER_LOST":
        used = [{"text": _shown(text), "usedInEntry": entry} for text, entry in loss.used_again]
        return {"count": loss.used_count, "first": used}
    return {"count": loss.weighty - loss.saved, "left": loss.weighty, "saved": loss.saved}


def _shown(text: str) -> str:
    return mask(sendable(text))
