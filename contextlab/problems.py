"""Errors of the API in one form: problem details (RFC 9457).

``type`` is stable and names the sort of problem, ``detail`` says what was wrong here and what to do,
``errors`` names each field that was refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.http import HttpResponse

CONTENT_TYPE: Final = "application/problem+json"
TYPE_PREFIX: Final = "urn:contextlab:problem:"
TITLES: Final[Mapping[int, tuple[str, str]]] = {
    400: ("bad-request", "The request cannot be read"),
    401: ("unauthorized", "A valid API token is needed"),
    403: ("forbidden", "The token's scope does not allow this"),
    404: ("not-found", "There is no such thing"),
    405: ("method-not-allowed", "This address does not know that method"),
    409: ("conflict", "The state has changed meanwhile"),
    413: ("too-large", "The request is too large"),
    415: ("unsupported-media-type", "The body must be JSON"),
    422: ("invalid", "A field has a value that cannot be used"),
    429: ("too-many-requests", "Too many requests"),
    500: ("server-error", "The server failed; the request may be sent again"),
    503: ("unavailable", "Something the server needs does not answer"),
}


def problem(
    status: int,
    detail: str = "",
    errors: Sequence[Mapping[str, str]] = (),
    **members: Any,
) -> dict[str, Any]:
    """The body of a problem. ``errors`` hold ``field`` and ``message``; ``members`` are extensions."""
    name, title = TITLES.get(status, TITLES[500 if status >= 500 else 400])
    body: dict[str, Any] = {"type": TYPE_PREFIX + name, "title": title, "status": status}
    if detail:
        body["detail"] = detail
    if errors:
        body["errors"] = [dict(error) for error in errors]
    return body | members


def problem_answer(body: Mapping[str, Any]) -> HttpResponse:
    """A problem as an answer."""
    answer = HttpResponse(json.dumps(body), status=body["status"], content_type=CONTENT_TYPE)
    if body["status"] == 401:
        answer["WWW-Authenticate"] = 'Bearer realm="contextlab"'
    return answer
