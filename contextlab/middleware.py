"""What happens around every request: one log line, and compression of pages."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import resolve_url

from contextlab.api_answers import API_NAMESPACE

log = structlog.get_logger("contextlab.requests")


class RequestLog:
    """One line per request. The route stands for the path, which may hold a login token."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self.answer(request)
        started = time.perf_counter()
        answer: HttpResponseBase = self.get_response(request)
        self.write(request, answer, started)
        return answer

    async def answer(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        answer: HttpResponseBase = await self.get_response(request)
        self.write(request, answer, started)
        return answer

    @staticmethod
    def write(request: HttpRequest, answer: HttpResponseBase, started: float) -> None:
        match = request.resolver_match
        if match is None and request.path_info.startswith(settings.STATIC_URL):
            return
        if match is not None and match.url_name in ("healthz", "readyz"):
            return
        log.info(
            "request",
            method=request.method,
            route=match.route if match else "unknown",
            status=answer.status_code,
            ms=round((time.perf_counter() - started) * 1000, 1),
        )


class LoginFirst(LoginRequiredMiddleware):
    """Who is not logged in is sent to the login page; a part of a page sends the whole page there."""

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        """The API asks for a token itself; its documentation tells nothing of anybody."""
        match = request.resolver_match
        if match is not None and match.namespace == API_NAMESPACE:
            return None
        answer: HttpResponseBase | None = super().process_view(
            request, view_func, view_args, view_kwargs
        )
        return answer

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseRedirect:
        answer = super().handle_no_permission(request, view_func)
        if request.headers.get("HX-Request") == "true":
            answer["HX-Redirect"] = resolve_url(settings.LOGIN_URL)
            answer.status_code = 200  # a redirect would be followed into the part of the page
            del answer["Location"]
        return answer


class PageGZip(GZipMiddleware):
    """Compress pages, leave streams alone: a server-sent event must not wait in a compressor."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not isinstance(response, HttpResponse):
            return response
        return super().process_response(request, response)
