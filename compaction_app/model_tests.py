"""Is a model to be had, and does it answer? A small real request, made by a worker as a job.

The web process asks no address that somebody typed; the job's row says what came of it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from django.db.models import QuerySet

from compaction_app.engine.compaction.failures import ABORT_NAME, TIMEOUT_NAME, Failure
from compaction_app.models import ModelConnection
from compaction_app.sealed import Unreadable
from compaction_app.summarisers.asking import ask
from compaction_app.summarisers.chat import ChatRequest
from sessions_app import jobs
from sessions_app.models import Job
from sessions_app.rows import storable
from sessions_app.working import CannotDo, Hold

KIND: Final = "model_test"
TASK: Final = "compaction_app.tasks.test_model"
TEST_SECONDS: Final = 30.0
MAX_OUTPUT: Final = 256
"""Room for a model that thinks before it answers."""
SHOWN_CHARS: Final = 500
QUESTION: Final = "This is a test of the connection. Answer with the one word: ready"


def request_test(connection: ModelConnection) -> Job:
    """A job that asks the model; the one that is not done yet, where there is one."""
    going_on = _tests_of(connection).filter(state__in=Job.OPEN).first()
    if going_on is not None:
        return going_on
    title = f"{connection.name}: test of the model"
    arguments = {"connection": str(connection.uuid)}
    return jobs.enqueue(connection.team, KIND, title, arguments)


def last_test(connection: ModelConnection) -> Job | None:
    """The newest test of the model."""
    return _tests_of(connection).order_by("-pk").first()


def run(hold: Hold) -> Mapping[str, Any]:
    """Ask; the job's result holds the answer and what it took.

    Raises:
        CannotDo: which model gave no answer, where, why, and what to do.
    """
    job = hold.job
    found = ModelConnection.objects.filter(team=job.team_id, uuid=job.arguments["connection"])
    connection = found.first()
    if connection is None:
        raise CannotDo("The model was removed.")
    try:
        model = connection.chat_model()
    except Unreadable as error:
        raise CannotDo(str(error)) from error
    ends = time.monotonic() + TEST_SECONDS

    def stopped() -> Failure | None:
        if hold.stop is not None:
            return Failure(ABORT_NAME, "nobody waits for it any more")
        if time.monotonic() > ends:
            return Failure(TIMEOUT_NAME, f"no answer within {TEST_SECONDS:g} s")
        return None

    hold.progress(0, 1, f"asks {connection.name}")
    began = time.monotonic()
    limit = min(MAX_OUTPUT, connection.max_output or MAX_OUTPUT)
    asked = ask(model, ChatRequest([{"role": "user", "content": QUESTION}], limit), stopped)
    hold.check()
    seconds = round(time.monotonic() - began, 2)
    answer = asked.answer
    if isinstance(answer, Failure):
        said = f"{answer.message} ({len(asked.tries)} tries in {seconds:g} s)."
        raise CannotDo(f"{said} {asked.advice}".strip())
    text = storable(answer.text, SHOWN_CHARS)
    return {
        "summary": f"answered in {seconds:g} s" + ("" if text.strip() else ", without a word"),
        "answer": text.strip(),
        "seconds": seconds,
        "tries": len(asked.tries),
        "promptTokens": answer.usage.prompt,
        "outputTokens": answer.usage.output,
        "cost": None if asked.cost is None else str(asked.cost),
    }


def _tests_of(connection: ModelConnection) -> QuerySet[Job]:
    own = Job.objects.filter(team=connection.team_id, kind=KIND)
    return own.filter(arguments__connection=str(connection.uuid))
