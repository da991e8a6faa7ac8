"""A turn while it runs: the session as it stands, and everything that is recorded on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from compaction_app.engine.decision import Decision
from compaction_app.engine.turn.record import (
    CallRecord,
    Event,
    EventKind,
    Number,
    StageRecord,
    TurnOutcome,
    TurnResult,
)
from compaction_app.engine.turn.requests import Moment, RunKind, Steps
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.engine.turn.state import SessionState
from sessions_app.transcripts.session_index import total_tokens
from sessions_app.transcripts.timestamps import iso_text

STORED_LATER = ("flush", "preflight_compaction", "threshold_compaction", "overflow_compaction", "manual_compaction")  # fmt: skip
"""Events after which the store's total tells what they left behind."""


@dataclass(frozen=True, slots=True)
class TurnPrompt:
    """What the user sent.

    ``message`` is stored, as a recorded entry or a bare message. ``sent`` is the text that reaches the
    model, with the sender's block and the time in front; ``judged`` the text that the gates estimate,
    with the time alone. ``run_id`` names the run in replies of the gateway. ``leading`` are entries
    without a message (a changed model, a label) that are stored right before the prompt. ``envelope``
    is what a channel puts before every prompt.
    """

    message: Mapping[str, Any]
    sent: str
    judged: str
    run_id: str = ""
    leading: tuple[Mapping[str, Any], ...] = ()
    envelope: str = ""


class TurnWork:
    """The working state of one turn; its parts record here and replace ``state``.

    ``prompt_once``: an attempt behind the first goes on from what the session holds since the prompt.
    The runtime's retries send a prompt that is stored already a second time instead (run
    overflow-summary-500-safeguard, turn 10).
    """

    def __init__(
        self,
        setup: RunSetup,
        state: SessionState,
        prompt: TurnPrompt,
        *,
        prompt_once: bool = False,
    ) -> None:
        self.setup, self.state, self.prompt = setup, state, prompt
        self.prompt_once = prompt_once
        self.queued = state.queued
        self.rules = setup.rules
        self.total_before = total_tokens(state.index)
        self.attempt = 0
        self.next_call = 1
        self.run: RunKind = "turn"
        self.has_replied = False
        self._stages: list[StageRecord] = []
        self._calls: list[CallRecord] = []
        self._events: list[Event] = []

    def note(
        self,
        stage: str,
        decision: Decision,
        entries: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        """Keep a stage's decision, fired or not, with the entries it is about."""
        place = (stage, self.run, self.attempt, self.next_call)
        record = StageRecord(*place, decision, entries or {})
        self._stages.append(record)

    def called(self, record: CallRecord) -> None:
        self._calls.append(record)
        self.next_call += 1

    def fired(
        self,
        kind: EventKind,
        before: Number | None,
        threshold: Number | None,
        reason: str,
        decision: Decision | None = None,
        after: Number | None = None,
    ) -> None:
        """Keep something that fired."""
        event = Event(kind, self.next_call, before, after, threshold, reason, decision)
        self._events.append(event)

    def append(self, entry: Mapping[str, Any]) -> Steps[None]:
        """Append an entry behind the leaf; without an id it gets one, and the time."""
        leaf = self.state.leaf_id
        if "id" in entry:
            placed = {**entry, "parentId": leaf}
        else:
            moment = yield Moment("entry")
            kind = {"type": entry["type"], "id": next(self.setup.new_ids), "parentId": leaf}
            placed = {**kind, "timestamp": iso_text(moment), **entry}
        self.state = self.state.with_entries((placed,))

    def append_message(self, message: Mapping[str, Any]) -> Steps[None]:
        """Append a recorded message entry, or a bare message."""
        is_entry = message.get("type") == "message" and "message" in message
        yield from self.append(message if is_entry else {"type": "message", "message": message})

    def append_prompt(self) -> Steps[None]:
        """Append what the user sent, with what stands right before it."""
        for entry in self.prompt.leading:
            yield from self.append(entry)
        yield from self.append_message(self.prompt.message)

    def finished(self, outcome: TurnOutcome, reply: str | None = None) -> TurnResult:
        """The turn's result; what the store holds now is what its compactions and flushes left."""
        total = total_tokens(self.state.index)
        events = [
            replace(event, tokens_after=total) if event.kind in STORED_LATER else event
            for event in self._events
        ]
        return TurnResult(
            state=self.state,
            outcome=outcome,
            stages=tuple(self._stages),
            calls=tuple(self._calls),
            events=tuple(events),
            reply=reply,
        )


def message_of(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of a recorded entry, or the bare message itself."""
    message = item.get("message") if item.get("type") == "message" else None
    return message if isinstance(message, Mapping) else item
