"""A long session's audit in stretches, so that memory holds one compaction cycle and not the transcript.

What a turn sees begins at what the compaction in force kept. So the turns between two compactions are
judged on the entries from there on, read for them alone; of everything before only the size of the file
and the session's entry in the index are carried on. That holds where entries follow each other; where
they branch, or the session was rewritten, a turn may see any entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from compaction_app.engine.simulation.audit import AuditedTurn, Since, audited_turns
from compaction_app.engine.simulation.inputs import Known, SimulationInputs, inputs_under
from compaction_app.engine.simulation.recording import read_recording
from compaction_app.engine.simulation.usage import ByDensity
from compaction_app.engine.turn.state import line_bytes
from compaction_app.envelopes import stored_envelope
from compaction_app.runs import Situation, timeline_for
from compaction_app.summarisers.extractive import extractive_summary
from sessions_app.loaded import columns_of
from sessions_app.models import Window
from sessions_app.payload import unpack
from sessions_app.rows import entries_of_window
from sessions_app.transcripts.columns import MARKS, USER, Ints
from sessions_app.transcripts.timeline import Timeline
from sessions_app.transcripts.transcript import Entry

MARGIN: Final = 100
"""Entries read in front of what a compaction kept: marks of the cache and prompts that are stored again."""

MORE_PROMPTS: Final = 3
"""Read behind a stretch: where a turn ends is told by where the next ones begin."""

_FLUSH: Final = MARKS.index("flush")
_COPY: Final = MARKS.index("copy")


@dataclass(frozen=True, slots=True)
class Stretch:
    """The turns whose prompts are the entries ``begin`` up to ``until``, judged on those from ``first``
    up to ``end``."""

    first: int
    begin: int
    until: int
    end: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A judged turn, and by how much the numbers of its entries and its own are to be raised."""

    turn: AuditedTurn
    entries: int = 0
    turns: int = 0

    @property
    def number(self) -> int:
        return self.turn.turn.recorded.number + self.turns


def can_be_stretched(window: Window) -> bool:
    """Whether every entry follows the one before it, and none is there twice."""
    columns = columns_of(window)
    follows = np.arange(len(columns)) - 1
    return bool((columns.parent == follows).all()) and _COPY not in columns.mark


def stretches_of(grown: Timeline) -> list[Stretch]:
    """The stretches of a session whose entries follow each other.

    The first turn behind a compaction still belongs to the stretch before: it may have compacted before
    it stored its prompt.
    """
    rows = grown.columns
    prompts = np.flatnonzero((rows.kind == USER) & (rows.mark != _FLUSH))
    if not len(prompts):
        return []
    after = np.searchsorted(prompts, grown.compactions.place) + 1
    starts, firsts = [0], [0]
    for number, kept in zip(after.tolist(), grown.compactions.kept.tolist(), strict=True):
        if number >= len(prompts):
            break
        if number == starts[-1]:
            firsts[-1] = kept
        else:
            starts.append(number)
            firsts.append(kept)
    bounds = [*starts, len(prompts)]
    return [
        Stretch(
            first=max(0, first - MARGIN) if number else 0,
            begin=int(prompts[start]) if number else 0,
            until=_at(prompts, bounds[number + 1], len(rows)),
            end=_at(prompts, bounds[number + 1] + MORE_PROMPTS, len(rows)),
        )
        for number, (start, first) in enumerate(zip(starts, firsts, strict=True))
    ]


def audited_in_stretches(situation: Situation, since: Since, prompt: int) -> Iterator[Placed]:
    """Judge the turns from the one of ``since`` on, whose prompt is the entry ``prompt``."""
    grown = timeline_for(situation)
    stretches = stretches_of(grown)
    if not stretches:
        return
    facts = replace(_inputs(situation, stretches[0]), envelope=stored_envelope(situation, grown))
    at, number, before = 0, since.number, 0
    for stretch in stretches:
        if stretch.until <= prompt:
            continue
        before += _bytes(situation, at, stretch.first)
        at = stretch.first
        inputs = _like(facts, _inputs(situation, stretch))
        turns = inputs.recording.turns
        begin = max(stretch.begin, prompt) - stretch.first
        local = next((n for n, turn in enumerate(turns) if turn.seq >= begin), None)
        if local is None:
            continue
        own = Since(local + 1, since.index, before)
        for done in audited_turns(inputs, own):
            if done.turn.recorded.seq >= stretch.until - stretch.first:
                break
            yield Placed(done, stretch.first, number - done.turn.recorded.number)
            number += 1
            since = replace(since, index=done.index_after)


def _at(prompts: Ints, number: int, end: int) -> int:
    return int(prompts[number]) if number < len(prompts) else end


def _inputs(situation: Situation, stretch: Stretch) -> SimulationInputs:
    """The inputs of a stretch as if its entries were the whole session."""
    session, window = situation.session, situation.window
    read = entries_of_window(window, stretch.first, stretch.end)
    known = Known(
        session_id=str(session.uuid),
        recording=read_recording([_moved(entry, stretch.first) for entry in read]),
        index=session.index_entry or {},
        own_policy=situation.policy,
        header_bytes=len(unpack(window.header)) + 1 if window.header else 0,
    )
    return inputs_under(situation.policy, situation.around, known, summarise=extractive_summary)


def _like(facts: SimulationInputs, inputs: SimulationInputs) -> SimulationInputs:
    """What was measured at the beginning holds all along: new ids, density, system prompt, envelope.

    The weights of messages are each stretch's own: they hold on to the messages that they know.
    """
    rule, first = inputs.rule, facts.rule
    if isinstance(rule, ByDensity) and isinstance(first, ByDensity):
        rule = replace(rule, density=first.density)
    return replace(inputs, setup=facts.setup, rule=rule, envelope=facts.envelope)


def _moved(entry: Entry, first: int) -> Entry:
    """An entry as if the file began with the entry ``first``."""

    def moved(seq: int | None) -> int | None:
        return seq - first if seq is not None and seq >= first else None

    return replace(
        entry,
        seq=entry.seq - first,
        parent_seq=moved(entry.parent_seq),
        kept_seq=moved(entry.kept_seq),
    )


def _bytes(situation: Situation, start: int, end: int) -> int:
    """What the entries ``start`` up to ``end`` take in the file."""
    read = entries_of_window(situation.window, start, end)
    return sum(line_bytes(entry.record) for entry in read)
