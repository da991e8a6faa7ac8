"""The engine's turns, driven up to the point where somebody else has to act. Nothing is stored here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Final, Literal

from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.persist import is_transcript_only
from compaction_app.engine.turn.compacting import CompactionAsk, first_request
from compaction_app.engine.turn.record import Event, StageRecord, TurnResult
from compaction_app.engine.turn.requests import (
    Compaction,
    Context,
    ModelCall,
    Moment,
    NoSummary,
    Steps,
)
from compaction_app.engine.turn.resume import ends_in_compaction, go_on
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.engine.turn.state import SessionState, line_bytes
from compaction_app.engine.turn.turn import turn_of
from compaction_app.engine.turn.work import TurnPrompt, TurnWork, message_of
from compaction_app.run_memory import RunMemory
from sessions_app.importers.marks import first_text, turn_mark

Message = Mapping[str, Any]
ALREADY_COMPACTED: Final = "Already compacted"
"""A reason that a turn goes on after (spec compaction 8)."""

Action = Literal["send", "flush", "compact", "blocked", "done"]


class NothingToSend(ValueError):
    """There is no prompt, and the session's last message asks for no answer."""


@dataclass(frozen=True, slots=True)
class Next:
    """What comes next in a turn.

    ``send``: ``context`` is what the call sends. ``flush``, ``compact``: that must happen first;
    ``context`` is then the flush turn's, ``compaction`` what is to be compacted and why. ``blocked``:
    nothing can be done, ``reply`` tells the user. ``done``: the turn is over; a ``compaction`` is then
    due behind it.

    ``state`` is the session as it would be then. ``added`` are the entries it has behind the stored
    ones; of them ``rewritten`` is the branch of a truncation, which stands before the prompt. Where the
    prompt is stored already it has to move behind that branch: ``moved`` is its message. ``replies`` are
    what the runtime itself says in the session, to the user of a blocked turn. ``stages`` are all
    decisions made on the way, ``events`` what fired.
    """

    action: Action
    state: SessionState
    added: tuple[Message, ...]
    rewritten: tuple[Message, ...]
    replies: tuple[Message, ...]
    moved: Message | None
    stages: tuple[StageRecord, ...]
    events: tuple[Event, ...]
    context: Context | None = None
    compaction: Compaction | None = None
    reply: str | None = None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(stage.decision for stage in self.stages)


def next_step(
    setup: RunSetup,
    state: SessionState,
    memory: RunMemory,
    head: str | None,
    now_ms: int,
    prompt: Message | None = None,
    *,
    leaves_compaction: bool = False,
) -> Next:
    """What comes next: with a new prompt, or without one behind the last stored entry.

    Args:
        head: of the stored session; what a job has tried there is not asked for again.
        leaves_compaction: go on without a compaction that is due; the answer names it.

    Raises:
        NothingToSend: without a prompt in a session whose last answer ended its turn.
    """
    begun = _begin(setup, state, memory, prompt)
    if prompt is None and memory.timed_out is not None and memory.failure("compact", head) is None:
        ask = CompactionAsk("timeout_recovery", memory.timed_out)
        due = None if ends_in_compaction(state) else first_request(begun.work, ask, now_ms)
        if isinstance(due, Compaction):
            return begun.stopped("compact", compaction=due)
    left: Compaction | None = None
    answer: Any = None
    try:
        while True:
            request = begun.steps.send(answer)
            match request:
                case Moment():
                    answer = now_ms
                case Compaction() if leaves_compaction:
                    left = left or request
                    answer = NoSummary("left_to_job", "left to a job")
                case Compaction(trigger="budget") if memory.preflighted:
                    answer = NoSummary("tried_before", ALREADY_COMPACTED)
                case Compaction():
                    said = memory.failure("compact", head)
                    if said is None:
                        return begun.stopped("compact", compaction=request)
                    answer = NoSummary("tried_before", said)
                case ModelCall(run="flush"):
                    if memory.failure("flush", head) is None:
                        return begun.stopped("flush", request.context)
                    answer = None
                case ModelCall():
                    return begun.stopped("send", request.context)
                case _:
                    raise TypeError(f"{type(request).__name__}: nothing can answer that here")
    except StopIteration as stop:
        result: TurnResult = stop.value
        return begun.next("done" if result.outcome == "answered" else "blocked", result, left)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A turn that was taken up: ``base`` is where it starts from, ``moves`` whether its prompt is stored
    and the turn begins with it all the same."""

    base: SessionState
    work: TurnWork
    steps: Steps[TurnResult]
    moves: bool = False

    def stopped(
        self, action: Action, context: Context | None = None, compaction: Compaction | None = None
    ) -> Next:
        return self.next(action, self.work.finished("unanswered"), compaction, context)

    def next(
        self,
        action: Action,
        result: TurnResult,
        compaction: Compaction | None,
        context: Context | None = None,
    ) -> Next:
        prompt = message_of(self.work.prompt.message)
        added = result.state.entries[len(self.base.entries) :]
        replies = tuple(filter(_is_reply, added))
        rewritten = tuple(
            takewhile(
                lambda entry: entry.get("message") is not prompt and not _is_reply(entry), added
            )
        )
        return Next(
            action=action,
            state=result.state,
            added=added,
            rewritten=rewritten,
            replies=replies,
            moved=prompt if self.moves and rewritten else None,
            stages=result.stages,
            events=result.events,
            context=context,
            compaction=compaction,
            reply=result.reply,
        )


def _begin(
    setup: RunSetup, state: SessionState, memory: RunMemory, prompt: Message | None
) -> _Begun:
    if prompt is not None:
        work = TurnWork(setup, state, turn_prompt(prompt), prompt_once=True)
        return _Begun(state, work, turn_of(work, memory.counters))
    stored = open_prompt(state.branch) if memory.is_open else None
    if stored is None:
        raise NothingToSend("The last turn is answered; the next call needs a prompt.")
    state = replace(state, queued=memory.told)
    if stored is state.entries[-1]:
        before = _without_last(state)
        work = TurnWork(setup, before, turn_prompt(stored), prompt_once=True)
        return _Begun(before, work, turn_of(work, memory.counters), moves=True)
    work = TurnWork(setup, state, turn_prompt(stored), prompt_once=True)
    return _Begun(state, work, go_on(work, memory.spent(setup.rules)))


def _is_reply(entry: Message) -> bool:
    message = entry.get("message")
    return isinstance(message, Mapping) and is_transcript_only(message)


def open_prompt(branch: Sequence[Message]) -> Message | None:
    """The entry of the last prompt on a branch; that of a memory flush is none."""
    for entry in reversed(branch):
        message = entry.get("message")
        is_user = isinstance(message, Mapping) and message.get("role") == "user"
        if is_user and turn_mark(entry["message"]) != "flush":
            return entry
    return None


def turn_prompt(message: Message) -> TurnPrompt:
    """A prompt, as a bare message or as its entry; it reaches the model as it is stored."""
    text = first_text(message_of(message))
    return TurnPrompt(message=message, sent=text, judged=text)


def _without_last(state: SessionState) -> SessionState:
    last = state.entries[-1]
    return replace(
        state,
        entries=state.entries[:-1],
        branch=state.branch[:-1],
        entry_bytes=state.entry_bytes - line_bytes(last),
    )
