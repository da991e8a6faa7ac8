"""What channels put before a stored session's prompts, told by the few prompts that its report is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from compaction_app.engine.config_value import value_at
from compaction_app.engine.simulation.driver import Envelope
from compaction_app.engine.simulation.inputs import envelope_of
from compaction_app.engine.simulation.recording import read_recording
from compaction_app.runs import Situation
from sessions_app.rows import entries_at
from sessions_app.transcripts.columns import MARKS, USER
from sessions_app.transcripts.timeline import Timeline
from sessions_app.transcripts.timestamps import epoch_ms
from sessions_app.transcripts.transcript import Entry

FEW_PROMPTS: Final = 4
"""On either side of a report: an entry may be stored later than its message was sent."""

FLUSH: Final = MARKS.index("flush")


def stored_envelope(situation: Situation, grown: Timeline) -> Envelope:
    """The envelope of a stored session; only the prompts around the report are read."""
    rows = grown.columns
    prompts = np.flatnonzero((rows.kind == USER) & (rows.mark != FLUSH))
    report = value_at(situation.session.index_entry or {}, "systemPromptReport")
    made = epoch_ms(value_at(report, "generatedAt"))
    at = len(prompts) if made is None else int((rows.at_ms[prompts] <= made).sum())
    near = prompts[max(0, at - FEW_PROMPTS) : at + FEW_PROMPTS]
    seqs = grown.branch[near].tolist()
    few = read_recording(list(chained(entries_at(situation.window, seqs))))
    return envelope_of(report, few, situation.around)


def chained(entries: Iterator[Entry]) -> Iterator[Entry]:
    """Entries of a branch as if they were a file of their own."""
    places: dict[int, tuple[int, str]] = {}
    before: str | None = None
    for place, entry in enumerate(entries):
        record: dict[str, Any] = {**entry.record, "id": entry.id, "parentId": before}
        kept = places.get(entry.kept_seq) if entry.kept_seq is not None else None
        if kept is not None:
            record["firstKeptEntryId"] = kept[1]
        yield replace(
            entry,
            seq=place,
            parent_seq=place - 1 if place else None,
            record=record,
            kept_seq=kept[0] if kept else None,
            digest=b"",
            mark="" if entry.mark == "copy" else entry.mark,
        )
        places[entry.seq] = (place, entry.id)
        before = entry.id
