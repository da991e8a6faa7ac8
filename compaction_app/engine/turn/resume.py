"""A turn that goes on where it was left: results came in, the model answered for the last time, or failed.

Between two requests of an agent nothing of a run is kept in memory; it is taken up again from what
the session holds and from what the run has spent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compaction_app.engine.overflow import classify_overflow
from compaction_app.engine.pruning.tool_calls import tool_calls
from compaction_app.engine.recovery_limits import RecoveryCounters
from compaction_app.engine.turn.attempt import Attempt, failed, since_prompt
from compaction_app.engine.turn.attempt_stages import AttemptEnd
from compaction_app.engine.turn.closing import close_run
from compaction_app.engine.turn.history import attempt_history
from compaction_app.engine.turn.record import TurnResult
from compaction_app.engine.turn.reply import gateway_answers
from compaction_app.engine.turn.requests import Moment, Steps
from compaction_app.engine.turn.run import ModelRun, carry_out
from compaction_app.engine.turn.state import SessionState
from compaction_app.engine.turn.work import TurnWork
from sessions_app.transcripts.session_context import messages_of_path
from sessions_app.transcripts.usage import Usage

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has used up so far. ``retries``: its session was cut, and the prompt is sent again.
    ``calls`` is how many model calls it has made.

    ``touched_ms`` is when a call of the run that was pruned touched the provider's cache, none before.
    """

    usages: tuple[Usage, ...] = ()
    counters: RecoveryCounters = field(default_factory=RecoveryCounters)
    retries: bool = False
    touched_ms: float | None = None
    calls: int = 0


def go_on(work: TurnWork, spent: Spent) -> Steps[TurnResult]:
    """The rest of a turn whose prompt the session holds already."""
    run = ModelRun(work, "turn", work.prompt.message, work.prompt.sent, work.setup.system.chars)
    run.prompt_stored = True
    work.next_call = spent.calls + 1
    run.counters, run.usages = spent.counters, list(spent.usages)
    again = spent.retries or ends_in_compaction(work.state)
    end = yield from carry_out(run, None if again else Resumed(run, spent.touched_ms))
    if end == "blocked" and run.reply is not None:
        yield from gateway_answers(work, run.reply, stored=True)
    if end == "answered":
        yield from close_run(run)
    return work.finished(end, run.reply)


class Resumed(Attempt):
    """An attempt in its middle: what came in since its prompt stands in the session."""

    def __init__(self, run: ModelRun, touched_ms: float | None) -> None:
        super().__init__(run)
        self.pruned_ms = touched_ms

    def _until_end(self) -> Steps[AttemptEnd]:
        now = yield Moment("entry")
        messages = list(messages_of_path(self.work.state.branch))
        before, since = since_prompt(messages)
        self.base = attempt_history(before, self.work.rules, now)
        self.news = [*self.told(), *since]
        self.note_touch()
        self.touched_ms = self.touched_ms if self.pruned_ms is None else self.pruned_ms
        last = messages[-1] if messages else {}
        if failed(last):
            self.news.pop()
            if self._overflowed(last):
                return AttemptEnd("overflow", last["errorMessage"])
        elif last.get("role") == "assistant" and not tool_calls(last):
            end = yield from self.answered(last)
            return end or (yield from self.talk())
        self.fence = len(self.base) + self._sent_before()
        return (yield from self.talk())

    def _sent_before(self) -> int:
        """How many of the news the last call saw."""
        roles = [message.get("role") for message in self.news]
        return len(roles) - 1 - roles[::-1].index("assistant") if "assistant" in roles else 0

    def _overflowed(self, answer: Message) -> bool:
        error, rules = answer.get("errorMessage"), self.work.rules
        return isinstance(error, str) and classify_overflow(rules.overflow, rules.id, error).likely


def ends_in_compaction(state: SessionState) -> bool:
    """Whether nothing came in behind the last compaction."""
    branch = state.branch
    return bool(branch) and branch[-1].get("type") == "compaction"
