"""Drives the turns of a recording through the rules: a what-if on real messages.

Prompts and answers come from the recording, summaries from its own compactions in their order; in a
session without any, whoever drives hands in a summariser. What
the model would have answered to another context nobody can know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from compaction_app.engine.compaction.requests import (
    NOT_REGISTERED,
    Credentials,
    CredentialsAnswer,
    ParallelCalls,
    ProviderCall,
    Wait,
    WorkspaceFile,
)
from compaction_app.engine.compaction.requests import ModelAnswer as ModelSummary
from compaction_app.engine.compaction.requests import ModelCall as SummaryCall
from compaction_app.engine.simulation.recording import (
    RecordedCall,
    RecordedTurn,
    Recording,
)
from compaction_app.engine.simulation.usage import CallSituation, PromptRule, with_prompt
from compaction_app.engine.turn.record import TurnResult
from compaction_app.engine.turn.requests import (
    Compaction,
    KnownSummary,
    ModelAnswer,
    ModelCall,
    Moment,
    Steps,
)
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.engine.turn.state import SessionState
from compaction_app.engine.turn.turn import run_manual_compaction, run_turn
from compaction_app.engine.turn.work import TurnPrompt
from sessions_app.transcripts.session_context import messages_of_path
from sessions_app.transcripts.timestamps import epoch_ms

SUMMARY_CHARS: Final = 4_000
Summarise = Callable[[SummaryCall], ModelSummary]
_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Envelope:
    """Characters that a channel puts before a prompt: all of them, and the time stamp alone.

    ``folds``: it makes one blank of several in a row.
    """

    chars: int = 0
    stamp_chars: int = 0
    folds: bool = True

    def prompt(self, turn: RecordedTurn) -> TurnPrompt:
        """The prompt of a recorded turn."""
        text = turn.text
        body = folded(text) if self.chars and self.folds else text
        return TurnPrompt(
            message=turn.entry,
            sent="x" * self.chars + body,
            judged="x" * self.stamp_chars + body,
            run_id=turn.run_id,
            leading=tuple(turn.leading),
            envelope="x" * self.chars,
        )


def folded(text: str) -> str:
    """A text as a channel hands it on: blanks in a row are one."""
    return _BLANKS.sub(" ", text)


def stand_in_summary(call: SummaryCall) -> str:
    """A summary of which only the size is meant: a common one, where nobody can write a real one."""
    return "x" * SUMMARY_CHARS


@dataclass(slots=True)
class Answers:
    """Answers what turns ask, from a recording; how far it has been used up is kept here.

    ``own_policy``: the calls are cut as they were when they were recorded. ``summarise`` answers the
    model calls of compactions in a session that has recorded none.
    """

    setup: RunSetup
    rule: PromptRule
    summaries: Iterator[KnownSummary]
    flushes: Iterator[Sequence[RecordedCall]]
    own_policy: bool = True
    summarise: Summarise = stand_in_summary
    clock_ms: float = 0
    calls: list[RecordedCall] = field(default_factory=list)
    flush_calls: list[RecordedCall] = field(default_factory=list)
    last_summary: KnownSummary | None = None

    def begin(self, turn: RecordedTurn) -> None:
        """The next turn: its own calls, and its time."""
        self.calls = list(turn.calls)
        self.flush_calls = []
        self._reach(turn.entry["message"].get("timestamp"), turn.entry.get("timestamp"))

    def answer(self, request: Any) -> Any:
        match request:
            case Moment(what="call"):
                if self.calls:
                    entry = self.calls[0].entry
                    self._reach(entry["message"].get("timestamp"), entry.get("timestamp"))
                return self.clock_ms
            case Moment():
                return self.clock_ms
            case ModelCall():
                return self._answer(request)
            case Compaction():
                self.last_summary = next(self.summaries, self.last_summary)
                return self.last_summary
            case SummaryCall():
                return self.summarise(request)
            case ParallelCalls():
                return tuple(map(self.summarise, request.calls))
            case ProviderCall():
                return NOT_REGISTERED
            case Credentials():
                return CredentialsAnswer(has_key=True)
            case WorkspaceFile():
                return None
            case Wait():
                return request.min_ms
        raise TypeError(f"{type(request).__name__}: a replay cannot answer that")

    def _answer(self, call: ModelCall) -> ModelAnswer | None:
        if call.run == "flush":
            return self._flush_answer(call)
        while self.calls:
            recorded = self.calls.pop(0)
            same = is_recorded_context(call.session, recorded)
            failed = recorded.entry["message"].get("stopReason") == "error"
            if failed and not same and self.calls:
                continue
            self._reach(None, recorded.entry.get("timestamp"))
            return self._billed(call, recorded, same, goes_on=bool(self.calls) and not failed)
        return None

    def _flush_answer(self, call: ModelCall) -> ModelAnswer | None:
        if not self.flush_calls:
            self.flush_calls = list(next(self.flushes, ()))
        if not self.flush_calls:
            return ModelAnswer({"role": "assistant", "content": [{"type": "text", "text": "NO_REPLY"}], "stopReason": "stop", "timestamp": self.clock_ms})  # fmt: skip
        recorded = self.flush_calls.pop(0)
        same = is_recorded_context(call.session, recorded)
        return self._billed(call, recorded, same, goes_on=False)

    def _billed(
        self, call: ModelCall, recorded: RecordedCall, same: bool, *, goes_on: bool
    ) -> ModelAnswer:
        entry = recorded.entry
        if not same or (call.context.changes and not self.own_policy):
            rules = self.setup.rules
            situation = CallSituation(call.run, call.context, recorded, rules.usage)
            prompt = self.rule(situation)
            if prompt is not None:
                entry = {**entry, "message": with_prompt(entry["message"], prompt)}
        return ModelAnswer(entry, tuple(recorded.results), goes_on)

    def _reach(self, message_ms: Any, entry_time: Any) -> None:
        """Time never runs backwards, whatever a recording says."""
        for given in (message_ms, None if message_ms is not None else entry_time):
            moment = epoch_ms(given)
            if moment is not None:
                self.clock_ms = max(self.clock_ms, moment)


def is_recorded_context(session: SessionState, recorded: RecordedCall) -> bool:
    """Whether a session holds what it held when the answer was recorded."""
    branch, path = session.branch, recorded.path
    if len(branch) == len(path) and all(map(_is_same_entry, branch, path)):
        return True
    return _comparable(messages_of_path(branch)) == _comparable(messages_of_path(path))


def _is_same_entry(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """A result that is stored under another cap keeps its id, but not its text."""
    return bool(one["id"] == other["id"] and _content(one) == _content(other))


def _content(entry: Mapping[str, Any]) -> Any:
    message = entry.get("message")
    return message.get("content") if isinstance(message, Mapping) else None


def _comparable(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """What a model reads of each message; times and figures may differ."""
    return [(m.get("role"), m.get("content"), m.get("summary")) for m in messages]


@dataclass(frozen=True, slots=True)
class SimulatedTurn:
    """A recorded turn and what became of it."""

    recorded: RecordedTurn
    result: TurnResult


def simulate(
    recording: Recording, answers: Answers, envelope: Envelope, header_bytes: int = 0
) -> Iterator[SimulatedTurn]:
    """Run every turn of a recording, each on what the turns before it left."""
    index = answers.setup.rules.session_index.new_entry
    state = SessionState(index=index, header_bytes=header_bytes)
    for turn in recording.turns:
        answers.begin(turn)
        state = with_entries_before(state, turn)
        result = finish(turn_steps(turn, answers.setup, state, envelope), answers)
        state = result.state
        yield SimulatedTurn(turn, result)


def with_entries_before(state: SessionState, turn: RecordedTurn) -> SessionState:
    """The session with the messages that stand before a turn without belonging to one."""
    for entry in turn.before:
        state = state.with_entries(({**entry, "parentId": state.leaf_id},))
    return state


def turn_steps(
    turn: RecordedTurn, setup: RunSetup, state: SessionState, envelope: Envelope
) -> Steps[TurnResult]:
    prompt = envelope.prompt(turn)
    if turn.kind == "compact":
        return run_manual_compaction(setup, state, prompt, turn.instructions)
    return run_turn(setup, state, prompt)


def finish(steps: Steps[TurnResult], answers: Answers) -> TurnResult:
    """Answer a turn's requests until it is done."""
    request = None
    try:
        request = next(steps)
        while True:
            request = steps.send(answers.answer(request))
    except StopIteration as stop:
        result: TurnResult = stop.value
        return result
