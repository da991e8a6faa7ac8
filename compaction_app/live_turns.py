"""What an agent of a live session must do before a model call, and what follows after one.

Before a call nothing is stored: the same head and prompt give the same answer. What was decided is
stored when the agent reports the call; a truncation appends its branch then.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.composition.agent_prompt import AgentPrompt
from compaction_app.engine.turn.reply import NO_COST, NO_USAGE
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.live_report import Report, Reported
from compaction_app.live_setup import LiveSetup
from compaction_app.live_state import load_live
from compaction_app.live_steps import Basis
from compaction_app.next_step import Next, next_step
from compaction_app.run_memory import memory_of
from sessions_app import store
from sessions_app.models import Session
from sessions_app.store import Wanted
from sessions_app.writing import Appended, checked_messages

Message = Mapping[str, Any]
TIMED_OUT: Final = "The call ran into its time limit."


class NothingReported(ValueError):
    """A report of no call, though the turn that is open could make one."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The answer to "what do I send?": for the session at ``head``, under this system prompt."""

    head: str | None
    setup: RunSetup
    system: AgentPrompt
    next: Next
    basis: Basis


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
    return Prepared(loaded.head, live.setup, live.system, step, Basis.of(loaded, now_ms))


def append(
    session: Session | Wanted,
    messages: Sequence[Message],
    *,
    expected_head: str | None = None,
    now_ms: int | None = None,
) -> Appended:
    """Append messages under the session guard; see :func:`append_messages`."""
    done = append_messages(session, messages, expected_head=expected_head, now_ms=now_ms)
    return done.appended


def append_messages(
    session: Session | Wanted,
    messages: Sequence[Message],
    *,
    expected_head: str | None = None,
    now_ms: int | None = None,
) -> Reported:
    """Append messages under the session guard, without the decisions that lead to a model call.

    Behind a last answer, and behind an error, the stages run that run after a reported call.

    Raises:
        CannotWrite, HeadMoved, BadMessage: as ``store.append``.
    """
    checked = checked_messages(messages)  # before anybody has to wait for a lock
    with store.writing(session, expected_head=expected_head, now_ms=now_ms) as writer:
        report = Report(writer, LiveSetup.of(writer.session).setup)
        report.store(checked)
        return report.told(len(checked), report.follow())


def report_call(
    session: Session | Wanted,
    messages: Sequence[Message],
    *,
    error: str | None = None,
    timed_out: bool = False,
    expected_head: str | None = None,
    now_ms: int | None = None,
) -> Reported:
    """Store a model call: what was sent anew, in order, and the answer with its usage.

    The decisions of the stages before the call are made again and stored, a truncation appends its
    branch, then the messages follow. After the last answer of a turn, and after an error, the stages
    behind it run, and what they decide is stored too. A prompt that nobody answered, because its turn
    is blocked, is stored with the reply that the user gets; nothing at all confirms that for a prompt that
    is stored already.

    Args:
        messages: the prompt or the tools' results, then the answer; no answer where the call failed
            or was not made.
        error: the provider's error text.
        timed_out: the call ran into the agent's time limit, with or without an error text.

    Raises:
        CannotWrite, HeadMoved, BadMessage: as ``store.append``.
        NothingReported: nothing at all, and the turn goes on.
    """
    checked = checked_messages(messages)
    error = TIMED_OUT if timed_out and error is None else error
    with store.writing(session, expected_head=expected_head, now_ms=now_ms) as writer:
        setup = LiveSetup.of(writer.session).setup
        report = Report(writer, setup)
        answers = [] if error is None else [failed_answer(setup, error)]
        for sent, answer in _calls([*checked, *answers]) or [([], [])]:
            report.take(sent, answer)
        if not (checked or answers or report.blocked):
            raise NothingReported("There is no message and no error, and the turn is not blocked.")
        if timed_out:
            report.timed_out()
        return report.told(len(messages), report.follow())


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


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
