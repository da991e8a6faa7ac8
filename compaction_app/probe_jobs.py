"""Probes of a recorded compaction by a model, as a job: what of the anchors it can still tell.

Off until somebody asks. Each replicate is one call with the summary, the kept tail and all questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from compaction_app.call_log import CallLog
from compaction_app.chosen import connection_of
from compaction_app.engine.compaction.failures import ABORT_NAME, Failure
from compaction_app.engine.compaction.prompt import serialise_conversation
from compaction_app.engine.retention.cycles import Cycle
from compaction_app.engine.retention.probes import (
    Question,
    prompt_of,
    questions_of,
    recall_of,
    recalled,
)
from compaction_app.lost import cycles_for, index_of
from compaction_app.models import ModelConnection
from compaction_app.recorded_compactions import recorded_compaction
from compaction_app.sealed import Unreadable
from compaction_app.summarisers.asking import ask
from compaction_app.summarisers.chat import PER_TOKENS, ChatModel, ChatRequest
from sessions_app import jobs
from sessions_app.entries import window_of
from sessions_app.models import Job, Session, Window
from sessions_app.rows import messages_of, storable_json
from sessions_app.tokens.javascript import utf16_len
from sessions_app.tokens.message_tokens import tokens_of_chars
from sessions_app.working import CannotDo, Hold

KIND: Final = "probe"
TASK: Final = "compaction_app.tasks.probe_compaction"
LEAST_REPLICATES: Final = 3
MOST_REPLICATES: Final = 10
ANSWER_TOKENS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Probe:
    """What a probe of a compaction asks: the questions, and the whole prompt of one replicate."""

    questions: tuple[Question, ...]
    prompt: str

    @property
    def prompt_tokens(self) -> int:
        """Estimate: characters / 4."""
        return tokens_of_chars(utf16_len(self.prompt))


def probe_of(window: Window, cycle: Cycle) -> Probe:
    """The probe of a recorded compaction; without questions where nothing can be asked for."""
    found = recorded_compaction(window, cycle.number)
    assert found is not None  # a cycle is a recorded compaction
    fates = cycle.retention.fates
    known = dict(messages_of(window, {fate.anchor.entry for fate in fates}))
    questions = tuple(questions_of(fates, lambda entry: known.get(entry, {})))
    tail = [message for _, message in messages_of(window, found.branch[found.kept : found.place])]
    summary = index_of(window).summaries.get(cycle.entry, "")
    return Probe(questions, prompt_of(summary, serialise_conversation(tail), questions))


def most_cost(probe: Probe, model: ModelConnection, replicates: int) -> Decimal | None:
    """The most that it can cost in US dollars; none where a price is unknown."""
    if model.input_price is None or model.output_price is None:
        return None
    output = min(ANSWER_TOKENS, model.max_output or ANSWER_TOKENS)
    one = probe.prompt_tokens * model.input_price + output * model.output_price
    return replicates * one / PER_TOKENS


def request_probe(session: Session, number: int, model: str, replicates: int) -> Job:
    """A job that asks a model of the team about the recorded compaction ``number``.

    Raises:
        ValueError: for fewer than three replicates, which would show no spread, or too many.
    """
    if not LEAST_REPLICATES <= replicates <= MOST_REPLICATES:
        raise ValueError(f"From {LEAST_REPLICATES} to {MOST_REPLICATES} replicates.")
    arguments = {"compaction": number, "model": model, "replicates": replicates}
    title = f"{session.title}: what {model} recalls of compaction {number}"
    return jobs.enqueue(session.team, KIND, title, arguments, replicates, session)


def run(hold: Hold) -> Mapping[str, Any]:
    """Ask; the result holds the recall with its spread, and for each question how often it was recalled.

    Raises:
        CannotDo: why nothing was asked, or which call failed and what to do.
    """
    job = hold.job
    if job.session is None:
        raise CannotDo("The session is gone.")
    window = window_of(job.session)
    number, replicates = int(job.arguments["compaction"]), int(job.arguments["replicates"])
    cycle = next((c for c in cycles_for(window) if c.number == number), None)
    if cycle is None:
        raise CannotDo("The session has no such compaction any more.")
    probe = probe_of(window, cycle)
    if not probe.questions:
        raise CannotDo("Nothing that this compaction removed can be asked for.")
    model = _model(job)
    log, done = CallLog(), []
    for replicate in range(replicates):
        hold.progress(replicate, replicates, f"replicate {replicate + 1} of {replicates}")
        answer = _asked(hold, model, probe, log)
        done.append(recalled(probe.questions, answer))
    return _result(probe, done, log)


def _model(job: Job) -> ChatModel:
    try:
        found = connection_of(job.team, str(job.arguments["model"]))
    except Unreadable as error:
        raise CannotDo(str(error)) from error
    if found is None:
        raise CannotDo("The model was removed.")
    return found[1]


def _asked(hold: Hold, model: ChatModel, probe: Probe, log: CallLog) -> str:
    def stopped() -> Failure | None:
        return None if hold.stop is None else Failure(ABORT_NAME, "nobody waits for it any more")

    limit = min(ANSWER_TOKENS, model.endpoint.max_output or ANSWER_TOKENS)
    row = log.begin({"kind": "probe", "promptChars": utf16_len(probe.prompt)})
    with log.making(row):
        asked = ask(model, ChatRequest([{"role": "user", "content": probe.prompt}], limit), stopped)
        log.asked(asked)
    hold.check()
    if isinstance(asked.answer, Failure):
        raise CannotDo(log.advised(asked.answer.message or "The model gave no answer."))
    return asked.answer.text


def _result(probe: Probe, done: Iterable[list[bool]], log: CallLog) -> dict[str, Any]:
    replicates = list(done)
    recall = recall_of(probe.questions, replicates)
    whole = recall["all"]
    cost = log.cost()
    rows = [
        {
            "kind": q.fate.anchor.kind,
            "question": q.text,
            "answer": q.fate.anchor.text,
            "entry": q.fate.anchor.entry,
            "lost": q.fate.is_lost,
            "recalled": sum(one[number] for one in replicates),
        }
        for number, q in enumerate(probe.questions)
    ]
    return {
        "summary": f"{whole.mean:.0%} of {whole.questions} recalled (± {whole.spread:.0%})",
        "recall": {
            name: {
                "questions": found.questions,
                "shares": list(found.shares),
                "mean": found.mean,
                "spread": found.spread,
            }
            for name, found in recall.items()
        },
        "questions": storable_json(rows),
        "replicates": len(replicates),
        "calls": log.stored(),
        "cost": None if cost is None else str(cost),
    }
