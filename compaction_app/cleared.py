"""What a call no longer saw of the results that rules trimmed or cleared for it: by its anchors."""

from __future__ import annotations

from typing import Any

from compaction_app.context_at_call import ToldContext
from compaction_app.engine.retention.retention import Retention, retention
from compaction_app.lost import shown_fate
from sessions_app.models import Window
from sessions_app.rows import messages_of

LISTED = 50


def cleared_at(window: Window, told: ToldContext) -> Retention | None:
    """The anchors of the originals, and which of them stand nowhere in the request; none where no rule
    cut anything. A result is cut for the call alone: the transcript keeps it."""
    request = told.call.request
    parts = request.parts if request else ()
    seqs = {seq for part in parts if part.changes for seq in part.sources}
    if not seqs:
        return None
    originals = list(messages_of(window, seqs))
    sent = [(part.sources[0] if part.sources else -1, part.message) for part in parts]
    return retention(originals, "", sent)


def cleared_json(found: Retention | None) -> dict[str, Any] | None:
    """The same as plain values, its texts as a viewer may see them."""
    if found is None:
        return None
    return {
        "anchors": found.counts.anchors,
        "lost": found.counts.lost,
        "items": [shown_fate(fate) for fate in found.lost[:LISTED]],
    }
