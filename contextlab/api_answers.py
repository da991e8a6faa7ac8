"""Every answer below the API's address is the API's own: problems in one form, and where the rate stands."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase

from contextlab.problems import CONTENT_TYPE, problem, problem_answer

API_PATH = "/api/"
API_NAMESPACE = "api-1"
HINTS = {
    404: "Nothing lies at this address. All addresses are listed at /api/v1/docs.",
    405: "See the Allow header for the methods that this address knows.",
}


class ApiAnswers:
    """Turns Django's pages about errors into problems; the API's own answers pass."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if self.is_async:
            return self.answer(request)
        return dressed(request, self.get_response(request))

    async def answer(self, request: HttpRequest) -> HttpResponseBase:
        return dressed(request, await self.get_response(request))


def dressed(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    """The answer as the API gives it."""
    if not request.path_info.startswith(API_PATH):
        return answer
    kind = answer.get("Content-Type", "").partition(";")[0]
    if answer.status_code >= HTTPStatus.BAD_REQUEST and kind not in (
        CONTENT_TYPE,
        "application/json",
    ):
        status = answer.status_code
        allowed = answer.get("Allow")
        answer = problem_answer(problem(status, HINTS.get(status, "")))
        if allowed:
            answer["Allow"] = allowed
    rate = getattr(request, "rate", None)
    if rate is not None:
        for name, value in rate.headers().items():
            answer[name] = value
    return answer
