"""The one API: who may call it, what its errors look like, and which parts it has."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from compaction_app.agents_api import router as agents
from compaction_app.api import router as compaction
from compaction_app.context_api import router as context
from compaction_app.doctor_api import router as doctor
from compaction_app.live_api import router as live
from compaction_app.session_life_api import router as life
from compaction_app.work_api import router as work
from contextlab.api_answers import API_NAMESPACE
from contextlab.api_document import complete
from contextlab.problems import problem, problem_answer
from contextlab.rate_limit import count_call
from contextlab.refusals import refusals, unreadable
from sessions_app.api import router as sessions
from sessions_app.api_access import (
    Conflict,
    InvalidField,
    NeedsScope,
    NoToken,
    TooManyCalls,
    count_calls_with,
)
from sessions_app.jobs_api import router as jobs
from sessions_app.stream_api import router as streams

log = logging.getLogger(__name__)
UNAVAILABLE = (
    "The database is busy and nothing was stored; send the request again in a second. With many writers "
    "PostgreSQL serves better than SQLite."
)


class Api(NinjaAPI):
    """Describes itself completely."""

    def get_openapi_schema(self, **arguments: Any) -> Any:
        return complete(super().get_openapi_schema(**arguments))


api = Api(
    title="ContextLab",
    version="1",
    urls_namespace=API_NAMESPACE,
    description=(
        "What an agent's context window holds, what the rules decide about it, and what would have "
        "happened under other settings. Log in with `Authorization: Bearer TOKEN`; tokens are made on "
        "the page API tokens. Sizes are in tokens unless a field says otherwise. Errors are problem "
        "details (RFC 9457). What another team owns is answered with 404."
    ),
)
api.add_router("", sessions)
api.add_router("", agents)
api.add_router("", life)
api.add_router("", live)
api.add_router("", work)
api.add_router("", jobs)
api.add_router("", streams)
api.add_router("", compaction)
api.add_router("", doctor)
api.add_router("", context)
count_calls_with(lambda token: count_call(str(token.uuid), settings.API_CALLS_PER_MINUTE))


@api.exception_handler(NoToken)
def no_token(request: HttpRequest, error: NoToken) -> HttpResponse:
    detail = "Send `Authorization: Bearer TOKEN` with a token that is valid."
    return problem_answer(problem(401, detail))


@api.exception_handler(NeedsScope)
def needs_scope(request: HttpRequest, error: NeedsScope) -> HttpResponse:
    return problem_answer(problem(403, str(error)))


@api.exception_handler(TooManyCalls)
def too_many_calls(request: HttpRequest, error: TooManyCalls) -> HttpResponse:
    return problem_answer(problem(429, str(error)))


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem_answer(problem(404, str(error)))


@api.exception_handler(Conflict)
def conflict(request: HttpRequest, error: Conflict) -> HttpResponse:
    return problem_answer(problem(409, str(error), **error.members))


@api.exception_handler(InvalidField)
def invalid_field(request: HttpRequest, error: InvalidField) -> HttpResponse:
    errors = [{"field": field, "message": text} for field, text in error.problems.items()]
    return problem_answer(problem(422, errors[0]["message"] if errors else "", errors))


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Each refused field by its place in the request; the values are not repeated."""
    errors = refusals(error.errors)
    return problem_answer(problem(422, errors[0]["message"] if errors else "", errors))


@api.exception_handler(HttpError)
def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    text = (
        unreadable(error.__cause__) if error.status_code == HTTPStatus.BAD_REQUEST else str(error)
    )
    return problem_answer(problem(error.status_code, text))


@api.exception_handler(OperationalError)
def unavailable(request: HttpRequest, error: OperationalError) -> HttpResponse:
    """The database did not answer in time, such as SQLite with more writers than it can serve."""
    log.warning("the database does not answer: %s", error)
    answer = problem_answer(problem(503, UNAVAILABLE))
    answer["Retry-After"] = "1"
    return answer


@api.exception_handler(Exception)
def failed(request: HttpRequest, error: Exception) -> HttpResponse:
    log.exception("the API failed", exc_info=error)
    return problem_answer(problem(500))
