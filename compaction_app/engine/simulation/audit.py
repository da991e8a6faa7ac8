"""Walks what was recorded: each turn's rules on the state that the recording really had then.

Nothing that a rule decides here reaches the next turn: that one starts from the recorded session
again, and from the index as the recording must have had it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from compaction_app.engine.simulation.driver import (
    Answers,
    SimulatedTurn,
    finish,
    turn_steps,
)
from compaction_app.engine.simulation.inputs import SimulationInputs
from compaction_app.engine.simulation.recording import Caused, Recording
from compaction_app.engine.simulation.report import COMPACTIONS, DONE, what_if_report
from compaction_app.engine.turn.record import StageRecord
from compaction_app.engine.turn.state import SessionState
from sessions_app.transcripts.session_index import compaction_count, record_flush
from sessions_app.transcripts.timestamps import epoch_ms
from sessions_app.transcripts.usage import normalize_usage, prompt_tokens


@dataclass(frozen=True, slots=True)
class Since:
    """Where an audit begins: at a turn, with the index as it stood before that turn.

    ``bytes_before``: what the entries in front of the recording's first one take in the file.
    """

    number: int = 1
    index: Mapping[str, Any] = field(default_factory=dict)
    bytes_before: int = 0


@dataclass(frozen=True, slots=True)
class AuditedTurn:
    """A turn's decisions on the recorded state, beside what its recording caused.

    ``start`` is the place in the file where the turn begins, ``index`` the index before it and
    ``index_after`` the one behind it. ``shows_flushes``: a flush leaves messages in the file.
    """

    turn: SimulatedTurn
    caused: tuple[Caused, ...]
    start: int
    index: Mapping[str, Any]
    shows_flushes: bool = True
    index_after: Mapping[str, Any] = field(default_factory=dict)

    @property
    def decided(self) -> tuple[int, int]:
        """Flushes and finished compactions that the rules decided."""
        events = self.turn.result.events
        done = sum(e.kind in COMPACTIONS and e.reason.startswith(DONE) for e in events)
        return sum(e.kind == "flush" for e in events), done

    @property
    def recorded(self) -> tuple[int, int]:
        """Flushes and compactions that the recording shows. A blocked flush leaves no messages."""
        kinds = [caused.kind for caused in self.caused]
        return kinds.count("flush"), kinds.count("compaction")

    @property
    def agrees(self) -> bool:
        """Whether both show the same; a flush whose prompt was blocked is known by its reply alone."""
        flushes, compactions = self.recorded
        blocked = self.turn.result.outcome == "blocked"
        decided = self.decided
        same_flushes = decided[0] == flushes or (blocked and decided[0] >= flushes)
        same_flushes = same_flushes or not self.shows_flushes
        return same_flushes and decided[1] == compactions


def audit(inputs: SimulationInputs) -> list[AuditedTurn]:
    """Every turn of the recording, each on the state that was recorded before it."""
    return list(audited_turns(inputs))


def audited_turns(inputs: SimulationInputs, since: Since = Since()) -> Iterator[AuditedTurn]:
    """The same, turn by turn, so that nobody has to keep them all."""
    recording, setup = inputs.recording, inputs.setup
    bounds = [*_starts(recording), len(recording.entries)]
    recorded = SessionState(header_bytes=inputs.header_bytes, entry_bytes=since.bytes_before)
    new_entry = setup.rules.session_index.new_entry
    state = replace(recorded, index=since.index or new_entry)
    spans = zip(recording.turns, bounds, bounds[1:], strict=False)
    for turn, start, end in islice(spans, since.number - 1, None):
        caused = tuple(c for c in recording.caused if start <= c.seq < end)
        recorded = recorded.with_entries(recording.entries[len(recorded.entries) : start])
        state = replace(recorded, index=state.index, queued=state.queued)
        summaries = iter([c.summary for c in caused if c.summary is not None])
        flushes = iter([c.calls for c in caused if c.kind == "flush"])
        answers = Answers(
            setup, inputs.rule, summaries, flushes, inputs.own_policy, inputs.summarise
        )
        answers.begin(turn)
        result = finish(turn_steps(turn, setup, state, inputs.envelope), answers)
        shows = setup.rules.turn.flush_stored
        done = AuditedTurn(SimulatedTurn(turn, result), caused, start, state.index, shows)
        state = state.with_index(_index_after(state.index, done, inputs))
        yield replace(done, index_after=state.index)


def _starts(recording: Recording) -> list[int]:
    """Where in the file each turn begins: at the first entry not older than its prompt's arrival.

    What a turn does before it stores its prompt (a compaction, a flush) stands in front of it. A prompt
    may arrive while the turn before is still at work, whose answers are its own.
    """
    answers = {call.entry["id"] for turn in recording.turns for call in turn.calls}
    starts: list[int] = []
    lowest = 0
    for turn in recording.turns:
        arrived = epoch_ms(turn.entry["message"].get("timestamp"))
        start = turn.seq
        while arrived is not None and start > lowest:
            written = epoch_ms(recording.entries[start - 1].get("timestamp"))
            answered = recording.entries[start - 1].get("id") in answers
            if answered or written is None or written < arrived:
                break
            start -= 1
        starts.append(start)
        # The boundary right behind a /compact is its own, however late it was written.
        lowest = turn.seq + 1 + (turn.kind == "compact")
    return starts


def _index_after(
    before: Mapping[str, Any], done: AuditedTurn, inputs: SimulationInputs
) -> Mapping[str, Any]:
    """The index after a turn: as the rules leave it, or by the recorded facts where they differ."""
    if done.agrees:
        return done.turn.result.state.index
    index = dict(before)
    flushes, compactions = done.recorded
    if flushes:
        moment = epoch_ms(done.turn.recorded.entry.get("timestamp")) or 0
        index = record_flush(index, moment, compaction_count(index))
    if compactions:
        index["compactionCount"] = compaction_count(index) + compactions
        index["totalTokensFresh"] = False
    calls = done.turn.recorded.calls
    usage = calls[-1].entry["message"].get("usage") if calls else None
    billed = prompt_tokens(normalize_usage(usage, inputs.setup.rules.usage))
    if billed is not None:
        index |= {"totalTokens": billed, "totalTokensFresh": True}
    return index


def audit_report(inputs: SimulationInputs, audited: Sequence[AuditedTurn]) -> dict[str, Any]:
    """As a what-if's object, with every stage's decision and what was recorded beside it."""
    report = what_if_report(inputs, [done.turn for done in audited])
    return {
        **report,
        "mode": "audit",
        "decisions": [
            _decision(done.turn.recorded.number, stage)
            for done in audited
            for stage in done.turn.result.stages
        ],
        "recorded": [
            {
                "turn": done.turn.recorded.number,
                "flushes": done.recorded[0],
                "compactions": done.recorded[1],
                "gatewayReplies": sum(caused.kind == "injected" for caused in done.caused),
                "agrees": done.agrees,
            }
            for done in audited
        ],
    }


def _decision(turn: int, stage: StageRecord) -> dict[str, Any]:
    decision = stage.decision
    return {
        "turn": turn,
        "stage": stage.stage,
        "run": stage.run,
        "attempt": stage.attempt,
        "fired": decision.fired,
        "outcome": decision.outcome,
        "reason": decision.reason,
        "inputs": dict(decision.inputs),
        "steps": [
            {"name": s.name, "formula": s.formula, "value": s.value, "unit": s.unit}
            for s in decision.steps
        ],
    }
