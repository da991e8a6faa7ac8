"""What went wrong with one request to a model, and what a person can do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from compaction_app.engine.compaction.failures import TIMEOUT_NAME
from compaction_app.summarisers.chat import BrokenOff, Endpoint

ERROR_CHARS = 500
TOO_MANY, FIRST_REDIRECT, FIRST_REFUSAL, FIRST_SERVER_ERROR = 429, 300, 400, 500
UNREACHABLE = "APIConnectionError"
NO_ANSWER = "gives no answer that can be read. Does a server of this kind listen at this address?"
REFUSALS: Mapping[int, str] = {
    401: "refuses the key. Enter it again under Models.",
    403: "refuses the key. Enter it again under Models.",
    404: "knows no such model, or has nothing at this path. Compare the model's name and the base URL"
    " under Models with what the server offers.",
    TOO_MANY: "has too many requests, or its quota is used up. Wait, or choose another summariser on"
    " the agent's page.",
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """A try that failed: as the rules of a compaction look at it (``name``, ``message``), whether another
    try may help, and ``advice``: which model it was, where, and what to do, without its key."""

    name: str
    message: str
    again: bool
    advice: str
    status: int | None = None
    wait_ms: int | None = None


def trouble_of(error: Exception, endpoint: Endpoint) -> Trouble:
    """Both client libraries come out of one generator: their errors have the same names and parts.

    One of them lets errors of the HTTP library through while it streams.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    who = f'"{endpoint.name or endpoint.model}" ({endpoint.model} at {address(endpoint.base_url)})'
    said = _without_key(_said(error), endpoint)
    if names & {"APITimeoutError", "TimeoutException"}:
        silence = (
            f"{who} sent nothing for {endpoint.stall_seconds:g} s. Is its server overloaded, or the"
        )
        advice = f"{silence} model still being loaded? Allow it more under Models."
        return Trouble(TIMEOUT_NAME, f"request timed out: {said}", True, advice)
    if names & {"APIConnectionError", "TransportError"}:
        cause = f"{said} ({type(error.__cause__).__name__})" if error.__cause__ else said
        advice = (
            f"{who} cannot be reached. See that the server runs and listens at this address (Models), "
            "or choose another summariser on the agent's page."
        )
        return Trouble(UNREACHABLE, cause, True, advice)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        again = status == TOO_MANY or status >= FIRST_SERVER_ERROR
        headers = getattr(getattr(error, "response", None), "headers", {})
        advice = f"{who} {_refusal(status)}"
        return Trouble("APIStatusError", said, again, advice, status, _wanted_pause_ms(headers))
    advice = f"{who} {NO_ANSWER}"
    if isinstance(error, BrokenOff):
        return Trouble("BrokenAnswer", said, error.again, advice)
    return Trouble(type(error).__name__, f"the answer cannot be read: {said}", False, advice)


def address(url: str) -> str:
    """Scheme, server and path; what may hold a secret is left out."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port is not None else ""
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"


def _refusal(status: int) -> str:
    if status in REFUSALS:
        return REFUSALS[status]
    if status >= FIRST_SERVER_ERROR:
        return f"has an error of its own ({status}). Its own log says more."
    if FIRST_REDIRECT <= status < FIRST_REFUSAL:
        return (
            f"sends on to another address ({status}), which is not followed: the key is for this one. "
            "Enter the address itself under Models."
        )
    return f"refuses the request ({status}); what it said stands beside this."


def _said(error: Exception) -> str:
    """The error's own words; of a server's answer only what it says as JSON. Anything else could be a page
    of an internal server, which the address of a model is not to show."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and not isinstance(getattr(error, "body", None), Mapping):
        return f"Error code: {status}"
    return str(error) or type(error).__name__


def _without_key(text: str, endpoint: Endpoint) -> str:
    """A server may quote the key that it refuses."""
    if endpoint.key:
        text = text.replace(endpoint.key, "[key]")
    return text[:ERROR_CHARS]


def _wanted_pause_ms(headers: Mapping[str, str]) -> int | None:
    """What ``Retry-After`` asks for in seconds; a date is not looked at."""
    wanted = headers.get("retry-after", "").strip()
    return int(wanted) * 1000 if wanted.isascii() and wanted.isdigit() and len(wanted) < 6 else None
