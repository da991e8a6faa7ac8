"""A recording as rows: what people sent and models answered, each entry measured once.

Also what each recorded call had before it, as sums along the file: a call's context is never put
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compaction_app.engine.pruning.tool_calls import missing_result, result_id, tool_calls
from compaction_app.engine.simulation.driver import Envelope
from compaction_app.engine.simulation.recording import (
    Lineage,
    RecordedCall,
    RecordedTurn,
    Recording,
)
from compaction_app.engine.tape.row import MASK, Row, RowMaker, content_key
from compaction_app.engine.tape.tape import POWER_BASE
from compaction_app.engine.turn.attempt import with_text
from compaction_app.engine.turn.work import TurnPrompt, message_of
from sessions_app.tokens.message_tokens import messages_tokens
from sessions_app.transcripts.session_context import context_of_path
from sessions_app.transcripts.timestamps import epoch_ms
from sessions_app.transcripts.usage import prompt_tokens

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallRows:
    """A recorded call: its answer, its results, the context it had (tokens and what it said)."""

    answer: Row
    results: tuple[Row, ...]
    context_tokens: int
    fingerprint: tuple[int, int]
    asked_ms: int | None
    answered_ms: int | None

    @property
    def billed(self) -> float | None:
        return prompt_tokens(self.answer.usage)

    @property
    def failed(self) -> bool:
        return self.answer.failed


@dataclass(frozen=True, slots=True)
class TurnRows:
    """A recorded turn. ``sent`` is the prompt as the model gets it."""

    turn: RecordedTurn
    prompt: TurnPrompt
    before: tuple[Row, ...]
    leading: tuple[Row, ...]
    stored: Row
    sent: Row
    arrived_ms: int | None
    calls: tuple[CallRows, ...]


@dataclass(frozen=True, slots=True)
class RecordedRows:
    """A recording's turns, and the calls of its memory flushes."""

    maker: RowMaker
    turns: tuple[TurnRows, ...]
    flushes: tuple[tuple[CallRows, ...], ...]


def recorded_rows(recording: Recording, envelope: Envelope, maker: RowMaker) -> RecordedRows:
    """Measure a recording."""
    reader = _Reader(maker, _lineage_of(recording))
    return RecordedRows(
        maker,
        tuple(reader.turn(turn, envelope) for turn in recording.turns),
        tuple(tuple(map(reader.call, calls)) for calls in recording.flushes),
    )


def _lineage_of(recording: Recording) -> Lineage:
    calls = [c for t in recording.turns for c in t.calls] + [
        c for f in recording.flushes for c in f
    ]
    return calls[0].lineage if calls else Lineage()


@dataclass(slots=True)
class _Sums:
    """Along the path to each entry: tokens, what was said, and the last compaction."""

    tokens: list[int] = field(default_factory=list)
    said: list[int] = field(default_factory=list)
    power: list[int] = field(default_factory=list)
    compaction: list[int | None] = field(default_factory=list)


class _Reader:
    def __init__(self, maker: RowMaker, lineage: Lineage) -> None:
        self.maker, self.lineage = maker, lineage
        self.sums = _Sums()
        places = enumerate(entry["id"] for entry in lineage.entries)
        self.places = {identity: place for place, identity in reversed(list(places))}
        for seq, entry in enumerate(lineage.entries):
            self._add(seq, entry)

    def _before(self, seq: int | None) -> tuple[int, int, int]:
        if seq is None:
            return 0, 0, 1
        return self.sums.tokens[seq], self.sums.said[seq], self.sums.power[seq]

    def _add(self, seq: int, entry: Entry) -> None:
        parent = self.lineage.parents[seq]
        tokens, said, power = self._before(parent)
        compaction = None if parent is None else self.sums.compaction[parent]
        if entry["type"] == "compaction":
            compaction = seq
        else:
            for message in context_of_path((entry,)).messages:
                tokens += messages_tokens((message,), self.maker.rules.message_tokens)
                said = (said + content_key(message) * power) & MASK
                power = power * POWER_BASE & MASK
        self.sums.tokens.append(tokens)
        self.sums.said.append(said)
        self.sums.power.append(power)
        self.sums.compaction.append(compaction)

    def _context(self, parent: int | None) -> tuple[int, tuple[int, int]]:
        """Tokens and fingerprint of the context of a call behind ``parent``."""
        tokens, said, _ = self._before(parent)
        compaction = None if parent is None else self.sums.compaction[parent]
        if compaction is None:
            return tokens, (0, said)
        kept = self.places.get(self.lineage.entries[compaction].get("firstKeptEntryId"))
        first = self.lineage.parents[compaction if kept is None else kept]
        before = self._before(first)
        (summary,) = context_of_path((self.lineage.entries[compaction],)).messages
        own = messages_tokens((summary,), self.maker.rules.message_tokens)
        rest = (said - before[1]) * pow(before[2], -1, 1 << 64) & MASK
        return own + tokens - before[0], (content_key(summary), rest)

    def turn(self, turn: RecordedTurn, envelope: Envelope) -> TurnRows:
        prompt = envelope.prompt(turn)
        stored = message_of(turn.entry)
        sent = {**stored, "content": with_text(stored.get("content"), prompt.sent)}
        given = stored.get("timestamp")
        return TurnRows(
            turn=turn,
            prompt=prompt,
            before=tuple(map(self.maker.row, turn.before)),
            leading=tuple(map(self.maker.row, turn.leading)),
            stored=self.maker.row(turn.entry),
            sent=self.maker.message_row(sent),
            arrived_ms=_moment(given, turn.entry),
            calls=tuple(map(self.call, turn.calls)),
        )

    def call(self, call: RecordedCall) -> CallRows:
        tokens, fingerprint = self._context(call.parent)
        message = message_of(call.entry)
        behind, orphans = self._unpaired(message, call.results)
        return CallRows(
            answer=self.maker.row(call.entry, behind.get(-1, ())),
            results=tuple(
                self.maker.row(entry, behind.get(n, ()), orphan=n in orphans)
                for n, entry in enumerate(call.results)
            ),
            context_tokens=tokens,
            fingerprint=fingerprint,
            asked_ms=_moment(message.get("timestamp"), call.entry),
            answered_ms=epoch_ms(call.entry.get("timestamp")),
        )

    def _unpaired(
        self, message: Mapping[str, Any], results: Sequence[Entry]
    ) -> tuple[dict[int, tuple[Row, ...]], set[int]]:
        """Error results for missing ones, by the result they stand behind (-1: the answer itself), and
        the results that answer no call."""
        rules = self.maker.rules.pruning.pairing
        calls = {call.id: call.name for call in tool_calls(message)}
        found = [result_id(message_of(entry), rules.calls) for entry in results]
        errored = message.get("stopReason") in ("error", "aborted")
        if errored and rules.errored_turns == "orphan_results":
            return {}, set(range(len(found)))
        first = {given: n for n, given in reversed(list(enumerate(found)))}
        orphans = {n for n, given in enumerate(found) if given not in calls or first[given] != n}
        behind: dict[int, tuple[Row, ...]] = {}
        last = -1
        for identity, name in calls.items():
            last = first.get(identity, last)
            if identity not in first and not errored:
                error = missing_result(identity, name, None, 0, rules.calls)
                behind[last] = (*behind.get(last, ()), self.maker.message_row(error))
        return behind, orphans


def _moment(message_ms: Any, entry: Entry) -> int | None:
    """The time of a message, else that of its entry."""
    return epoch_ms(entry.get("timestamp") if message_ms is None else message_ms)
