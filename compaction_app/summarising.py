"""How a job answers what a compaction asks for: each call told of, kept and recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from compaction_app.call_log import CallRow, ended
from compaction_app.chosen import Chosen
from compaction_app.engine.compaction.failures import Failure
from compaction_app.engine.compaction.prompt import summary_prompt
from compaction_app.engine.compaction.requests import ModelAnswer, ModelCall, ProviderCall, Request
from compaction_app.kept_answers import KeptAnswers
from compaction_app.step_log import StepLog
from compaction_app.summarisers.interface import Summariser
from sessions_app.tokens import javascript as js


@dataclass(frozen=True, slots=True)
class _Question:
    """A call with its row of the record, and the answer of an earlier attempt at the job, if any."""

    call: ModelCall
    row: CallRow
    name: str
    kept: str | None


class Summarising:
    """Asks the summariser, and keeps what was asked and what came of it.

    Threads that ask touch neither the database nor the job: all of that is done by whoever waits.
    """

    def __init__(self, summariser: Summariser, log: StepLog) -> None:
        self._summariser, self._log = summariser, log
        self._kept = KeptAnswers(log.hold.job)

    def one(self, call: ModelCall) -> ModelAnswer:
        """The answer to one call."""
        question = self._question(call)
        answer = question.kept if question.kept is not None else self._ask(question)
        self._told(question, answer)
        return answer

    def at_once(self, calls: Sequence[ModelCall]) -> tuple[ModelAnswer, ...]:
        """The answers to calls that are made at the same time, where the summariser waits for somebody
        else meanwhile; one after the other where it does the work itself."""
        if not getattr(self._summariser, "waits", False):
            return tuple(self.one(call) for call in calls)
        questions = [self._question(call) for call in calls]
        answers: dict[int, ModelAnswer] = {}
        with ThreadPoolExecutor(len(questions), "summarising") as threads:
            going_on = {}
            for place, question in enumerate(questions):
                if question.kept is None:
                    going_on[threads.submit(self._ask, question)] = place
                else:
                    answers[place] = question.kept
                    self._told(question, question.kept)
            try:
                for done in as_completed(going_on):
                    place = going_on[done]
                    answers[place] = done.result()
                    self._told(questions[place], answers[place])
            except BaseException:
                self._log.abandon()  # or the end of this block would wait for a model
                raise
        return tuple(answers[place] for place in range(len(questions)))

    def _question(self, call: ModelCall) -> _Question:
        prompt = summary_prompt(call)
        row = self._log.calls.begin(
            {
                "kind": prompt.kind,
                "portion": list(call.portion),
                "messages": len(call.messages),
                "promptChars": js.utf16_len(prompt.text),
                "previousChars": js.utf16_len(call.previous_summary or ""),
                "summariser": self._summariser.name,
            }
        )
        name = self._kept.question(self._summariser, call)
        known = self._kept.answer(name)
        if known is None:
            return _Question(call, row, name, None)
        answer, before = known
        row |= {**before, "number": row["number"], "kept": True}
        self._log.hold.note(f"call {row['number']} was answered in an earlier attempt, and is kept")
        return _Question(call, row, name, answer)

    def _ask(self, question: _Question) -> ModelAnswer:
        with self._log.calls.making(question.row):
            try:
                return self._summariser.summarise(question.call)
            except (
                Exception
            ) as error:  # a plug-in may raise anything; the rules decide what follows
                return Failure(type(error).__name__, str(error))

    def _told(self, question: _Question, answer: ModelAnswer) -> None:
        ended(question.row, answer)
        if question.kept is None and isinstance(answer, str):
            self._kept.keep(question.name, answer, question.row)
        self._log.advise(question.row)
        self._log.point("answered")


class Progress:
    """Tells of each request before it is answered, and ends the compaction when the job stops."""

    def __init__(self, log: StepLog) -> None:
        self._log = log
        self._calls = 0
        self._last: dict[bool, tuple[int, int]] = {}
        self._passes: Counter[bool] = Counter()

    def __call__(self, request: Request) -> None:
        self._log.check()
        if isinstance(request, ModelCall):
            self._calls += 1
            number, of = request.portion
            what = "beginning of the split turn" if request.turn_prefix else "history"
            again = self._again(request)
            text = f"{what}{again}: chunk {number} of {of} (call {self._calls})"
            self._log.step("asking", text, number - 1, of)
        elif isinstance(request, ProviderCall):
            self._calls += 1
            self._log.step("asking", f"asks the provider {request.provider}", 0, 1)

    def _again(self, call: ModelCall) -> str:
        """What tells a repetition from the first time: of a call after an error, or of all portions, as
        for another part or after the check of the quality."""
        kind = call.turn_prefix
        before, self._last[kind] = self._last.get(kind), call.portion
        again = call.portion == before
        if before is not None and not again and call.portion[0] <= before[0]:
            self._passes[kind] += 1
        passed = f", pass {self._passes[kind] + 1}" if self._passes[kind] else ""
        return f"{passed}, again" if again else passed


def recorded_providers(
    chosen: Chosen, reserve_tokens: float, log: StepLog
) -> Mapping[str, Callable[[ProviderCall], Any]]:
    """What ``compaction.provider`` may name, each call kept for the record."""

    def recorded(name: str, ask: Callable[[ProviderCall], Any]) -> Callable[[ProviderCall], Any]:
        def call(request: ProviderCall) -> Any:
            row = log.calls.begin(
                {"kind": "provider", "messages": len(request.messages), "summariser": name}
            )
            answer: Any = None
            try:
                with log.calls.making(row):
                    answer = ask(request)
            except Exception as error:  # as above
                answer = Failure(type(error).__name__, str(error))
            ended(row, answer if isinstance(answer, str | Failure) else None)
            log.advise(row)
            return answer

        return call

    named = chosen.all.providers(reserve_tokens)
    return {name: recorded(name, ask) for name, ask in named.items()}
