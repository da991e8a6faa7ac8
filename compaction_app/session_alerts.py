"""Telling who listens that the verdict of a live session has changed, or that its compaction lost something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction_app import webhooks
from compaction_app.engine.retention.losses import Loss, losses_from_json
from sessions_app import events
from sessions_app.entries import sendable
from sessions_app.masking import mask
from sessions_app.models import Session


def tell_of_changes(session: Session, before: Mapping[str, Any]) -> None:
    """Say what is true of a live session now and was not ``before``, when its summary was written last."""
    if not session.is_live:
        return
    was, now = (
        [word["text"] for word in summary.get("verdict", ())]
        for summary in (before, session.summary)
    )
    if sorted(now) != sorted(was):
        _tell(session, "verdict", {"verdict": now, "before": was})
    for kind, data in news(_losses(before, session.summary), _losses(session.summary)):
        _tell(session, kind, data)


def _tell(session: Session, kind: str, data: Mapping[str, Any]) -> None:
    event = events.announce(session, kind, data)
    webhooks.queue(session, kind, data, event.sequence)


def _losses(summary: Mapping[str, Any], now: Mapping[str, Any] | None = None) -> Sequence[Loss]:
    """What a summary says was lost; nothing where it was written of another window."""
    kept = summary.get("losses") or {}
    if now is not None and kept.get("window") != now["losses"]["window"]:
        return ()
    return losses_from_json(kept.get("of")) or ()


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
