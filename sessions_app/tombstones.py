"""Tombstones: made before a session is deleted, whoever deletes it, and in a chain of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from django.db import transaction

from sessions_app.chain import LINK_BYTES, Chain
from sessions_app.models import Session, Team, Tombstone

Ends = Callable[[Session], Mapping[str, Any]]
_ends_above: list[Ends] = []


def also_covers(ends: Ends) -> None:
    """The floor above has chains of its own: it hands in a function that gives their ends by name."""
    _ends_above[:] = [ends]


def chain_ends(session: Session) -> dict[str, Any]:
    """The ends of all chains of a session, as plain values."""
    ends: dict[str, Any] = {}
    for window in session.windows.order_by("sequence"):
        chain = Chain(window)
        ends[f"window {window.uuid}"] = {
            "entries": chain.entries,
            "records": chain.records,
            "link": chain.link.hex(),
        }
    for above in _ends_above:
        ends |= above(session)
    return ends


def digest_of(ends: Mapping[str, Any]) -> bytes:
    """One digest over the ends of a session's chains."""
    return blake2b(_json(ends), digest_size=LINK_BYTES).digest()


def bury_unburied(session: Session) -> None:
    """The tombstone of a session that goes with something else, as with its team."""
    if not Tombstone.objects.filter(session_uuid=session.uuid).exists():
        bury(session)


def bury(session: Session, by: str = "") -> Tombstone:
    """The tombstone of a session that is about to be deleted in this transaction, by whom."""
    with transaction.atomic():
        # One at a time: the oldest team's row is the lock of the chain.
        list(Team.objects.select_for_update().order_by("pk")[:1])
        ends = chain_ends(session)
        last = Tombstone.objects.order_by("-pk").first()
        made = Tombstone(
            session_uuid=session.uuid,
            team_uuid=session.team.uuid,
            source=session.source,
            is_live=session.is_live,
            entries=sum(session.windows.values_list("entry_count", flat=True)),
            chains=ends,
            digest=digest_of(ends),
            deleted_by=by[:150],
        )
        made.link = link_of(made, bytes(last.link) if last else b"")
        made.save()
    return made


def link_of(stone: Tombstone, before: bytes) -> bytes:
    """The link of a tombstone behind the one whose link is ``before``."""
    said = [
        str(stone.session_uuid), str(stone.team_uuid), stone.source, stone.is_live, stone.entries,
        bytes(stone.digest).hex(), stone.deleted_at.isoformat(), stone.deleted_by,
    ]  # fmt: skip
    return blake2b(before + _json(said), digest_size=LINK_BYTES).digest()


def broken_stones() -> Iterator[str]:
    """What is wrong with the chain of tombstones: its first link that does not fit."""
    before = b""
    for stone in Tombstone.objects.order_by("pk").iterator(chunk_size=500):
        if digest_of(stone.chains) != bytes(stone.digest):
            yield f"tombstone of session {stone.session_uuid}: its chains are not those of its digest"
            return
        if link_of(stone, before) != bytes(stone.link):
            yield (
                f"tombstone of session {stone.session_uuid}: it was changed, or one before it is gone"
            )
            return
        before = bytes(stone.link)


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
