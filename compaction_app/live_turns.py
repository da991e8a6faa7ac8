"""What an agent of a live session must do before a model call, and what follows after one.

Before a call nothing is stored: the same head and prompt give the same answer. What was decided is
stored when the agent reports the call; a truncation appends its branch then.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app import decisions, webhooks
from compaction_app.agent_setup import agent_setup, prompt_of, run_setup_of
from compaction_app.engine.composition.agent_prompt import AgentPrompt
from compaction_app.engine.overflow import classify_overflow
from compaction_app.engine.turn.attempt import failed
from compaction_app.engine.turn.record import StageRecord
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.engine.turn.turn import NO_COST, NO_USAGE
from compaction_app.live_state import LiveSession, load_live, load_window
from compaction_app.models import Decision
from compaction_app.next_step import Next, NothingToSend, next_step
from compaction_app.run_memory import RunMemory, ended, memory_of, with_memory
from compaction_app.session_guard import ends_run, guard_of
from sessions_app import store
from sessions_app.models import Session
from sessions_app.writer import Writer
from sessions_app.writing import Appended, CannotWrite, Receipt, checked_messages

Message = Mapping[str, Any]
CACHE_STAGE: Final = "cache_ttl_pruning"


@dataclass(frozen=True, slots=True)
class LiveSetup:
    """Everything that is fixed while a request of an agent is answered."""

    setup: RunSetup
    system: AgentPrompt

    @classmethod
    def of(cls, session: Session) -> LiveSetup:
        """The setup of a live session by its agent as it is now.

        Raises:
            CannotWrite: for a session whose agent is gone.
        """
        if session.agent is None:
            raise CannotWrite(
                "The session's agent is gone; nobody says under which settings it runs."
            )
        own = agent_setup(session.agent)
        system = prompt_of(own, session.key)
        return cls(run_setup_of(own, system.chars), system)


@dataclass(frozen=True, slots=True)
class Prepared:
    """The answer to "what do I send?": for the session at ``head``, under this system prompt."""

    head: str | None
    setup: RunSetup
    system: AgentPrompt
    next: Next


@dataclass(frozen=True, slots=True)
class Reported:
    """What a reported call left: what became of its messages, and what follows (none: the agent sends
    the results of the tools it was asked for)."""

    appended: Appended
    next: Next | None


def prepare(session: Session, prompt: Message | None = None, now_ms: int | None = None) -> Prepared:
    """What is to be done before the next model call of a live session.

    Args:
        prompt: the new user message; none to go on behind the last stored message.

    Raises:
        NothingToSend: without a prompt in a session whose last turn is answered.
        BadMessage: for a prompt that is no message.
    """
    live = LiveSetup.of(session)
    loaded = load_live(session, live.setup.rules)
    if prompt is not None:
        (prompt,) = checked_messages([prompt])
    now_ms = _now_ms() if now_ms is None else now_ms
    memory = memory_of(loaded.memory)
    step = next_step(live.setup, loaded.state, memory, loaded.head, now_ms, prompt)
    return Prepared(loaded.head, live.setup, live.system, step)


def append(
    session: Session,
    messages: Sequence[Message],
    *,
    expected_head: str | None = None,
    now_ms: int | None = None,
    live: LiveSetup | None = None,
) -> Appended:
    """Append messages under the session guard, without a model call; raises as ``store.append``."""
    guard = guard_of((live or LiveSetup.of(session)).setup)
    return store.append(session, messages, guard, expected_head=expected_head, now_ms=now_ms)


def report_call(
    session: Session,
    messages: Sequence[Message],
    *,
    error: str | None = None,
    expected_head: str | None = None,
    now_ms: int | None = None,
    live: LiveSetup | None = None,
) -> Reported:
    """Store a model call: what was sent anew, in order, and the answer with its usage.

    The decisions of the stages before the call are made again and stored, a truncation appends its
    branch, then the messages follow. After the last answer of a turn, and after an error, the stages
    behind it run, and what they decide is stored too.

    Args:
        messages: the prompt or the tools' results, then the answer; no answer where the call failed.
        error: the provider's error text.
        live: the session's setup where the caller has it already.

    Raises:
        CannotWrite, HeadMoved, BadMessage: as ``store.append``.
    """
    live = live or LiveSetup.of(session)
    answers = [] if error is None else [failed_answer(live.setup, error)]
    calls = _calls(checked_messages([*messages, *answers]))
    with store.writing(session, expected_head=expected_head, now_ms=now_ms) as writer:
        first = writer.window.entry_count
        report = _Report(writer, live.setup)
        for sent, answer in calls:
            report.take(sent, answer)
        return Reported(
            next=report.follow(),
            appended=Appended(
                receipts=tuple(report.receipts[: len(messages)]),
                head=writer.head,
                first_seq=first,
                entries=writer.window.entry_count,
                tokens=report.tokens,
                event=writer.session.last_event,
            ),
        )


def failed_answer(setup: RunSetup, error: str) -> dict[str, Any]:
    """The answer that stands in a transcript for a call that failed."""
    return {
        "role": "assistant",
        "content": [],
        "provider": setup.around.provider,
        "model": setup.around.model,
        "usage": {**NO_USAGE, "cost": dict(NO_COST)},
        "stopReason": "error",
        "errorMessage": error,
    }


def _calls(messages: list[Message]) -> list[tuple[list[Message], list[Message]]]:
    """The messages by calls: what each sent anew, and its answer; what nobody answered comes last."""
    calls: list[tuple[list[Message], list[Message]]] = []
    sent: list[Message] = []
    for message in messages:
        if message["role"] == "assistant":
            calls.append((sent, [message]))
            sent = []
        else:
            sent.append(message)
    return [*calls, (sent, [])] if sent else calls


class _Report:
    """Reported calls on their way into the store, under the session's lock."""

    def __init__(self, writer: Writer, setup: RunSetup) -> None:
        self.writer, self.setup = writer, setup
        self.guard = guard_of(setup)
        self.receipts: list[Receipt] = []
        self.tokens = 0
        self.pruned = False

    def take(self, sent: list[Message], answer: list[Message]) -> None:
        """Store one call, with the decisions that led to it between its prompt and its answer."""
        prompt = sent[-1] if sent and sent[-1]["role"] == "user" else None
        self.pruned = False
        self._append(sent[:-1] if prompt is not None else sent)
        if answer and (prompt is not None or memory_of(self.writer.state).is_open):
            self._decide(prompt)
        self._append([] if prompt is None else [prompt])
        if self.pruned:
            memory = replace(memory_of(self.writer.state), touched_ms=self.writer.now_ms)
            self.writer.state = with_memory(self.writer.state, memory)
        self._append(answer)

    def follow(self) -> Next | None:
        """What follows: the stages behind a last answer, or the recovery from an error."""
        loaded = self._loaded()
        last = loaded.state.entries[-1].get("message") if loaded.state.entries else None
        if not isinstance(last, Mapping) or not (ends_run(last) or failed(last)):
            return None
        memory = memory_of(loaded.memory)
        try:
            step = self._step(
                loaded, replace(memory, is_open=True), leaves_compaction=ends_run(last)
            )
        except NothingToSend:  # an answer that no prompt came before
            return None
        self._keep(step.stages, memory.turn)
        if ends_run(last):
            self.writer.append_entries(step.added)
            self.writer.state = replace(self.writer.state, index=step.state.index)
            return step
        self._recover(memory, step)
        rules, error = self.setup.rules, last.get("errorMessage")
        if classify_overflow(rules.overflow, rules.id, str(error)).likely:
            overflow = {"next": step.action, "reply": step.reply, "turn": memory.turn}
            webhooks.tell(self.writer, "overflow", overflow)
        return step

    def _recover(self, memory: RunMemory, step: Next) -> None:
        """Keep what the recovery has spent, and the branch of a truncation."""
        if step.action == "compact":
            memory = replace(memory, overflow_compactions=memory.overflow_compactions + 1)
        elif step.rewritten:
            self.writer.append_entries(step.rewritten)
            memory = replace(memory, truncations=memory.truncations + 1, retries=True)
        elif step.action == "blocked":
            memory = ended(memory)
        self.writer.state = with_memory(self.writer.state, memory)

    def _decide(self, prompt: Message | None) -> None:
        loaded = self._loaded()
        memory = memory_of(loaded.memory)
        step = self._step(loaded, memory, prompt)
        self._keep(step.stages, memory.turn + (prompt is not None))
        self.pruned = any(s.stage == CACHE_STAGE and s.decision.fired for s in step.stages)
        if step.rewritten:
            again = [{"type": "message", "message": step.moved}] if step.moved else []
            self.writer.append_entries([*step.rewritten, *again])

    def _append(self, messages: list[Message]) -> None:
        done = self.writer.append(messages, self.guard)
        self.receipts += done.receipts
        self.tokens += done.tokens

    def _loaded(self) -> LiveSession:
        return load_window(self.writer.window, self.setup.rules, self.writer.state)

    def _step(
        self,
        loaded: LiveSession,
        memory: RunMemory,
        prompt: Message | None = None,
        leaves_compaction: bool = False,
    ) -> Next:
        return next_step(
            self.setup,
            loaded.state,
            memory,
            loaded.head,
            self.writer.now_ms,
            prompt,
            leaves_compaction=leaves_compaction,
        )

    def _keep(self, stages: Iterable[StageRecord], turn: int) -> None:
        around = self.setup.around
        decisions.record(
            self.writer.session,
            (decisions.Made(turn, stage) for stage in stages),
            reading=Decision.Reading.LIVE,
            window=self.writer.window,
            policy=decisions.policy_record(self.setup.policy, around),
        )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
