"""Who may call the API: a token, its scope, its rate. Its errors become problems on the upper floor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja.security import HttpBearer

from sessions_app import access, api_tokens, reveals
from sessions_app.access import Owned
from sessions_app.models import ApiToken, Session
from sessions_app.pool import in_pool


class NoToken(Exception):
    """No token, or one that opens nothing."""


class NeedsScope(Exception):
    """The token may not do this."""


class TooManyCalls(Exception):
    """The token has used up its minute."""


class Conflict(Exception):
    """The state is not the one that the caller believed; ``members`` tell which it is."""

    def __init__(self, text: str, **members: Any) -> None:
        super().__init__(text)
        self.members = members


class InvalidField(Exception):
    """Values that cannot be used: by field, what is wrong and what to do."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(problems.values()))
        self.problems = problems


_count_call: Callable[[ApiToken], Any] | None = None


def count_calls_with(count: Callable[[ApiToken], Any]) -> None:
    """The upper floor says how calls are counted; ``count`` returns the token's rate."""
    global _count_call
    _count_call = count


class Bearer(HttpBearer):
    """A token with at least this scope. After it ``request.auth`` is the token's row."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def __call__(self, request: HttpRequest) -> ApiToken:
        token: ApiToken | None = super().__call__(request)
        if token is None:
            raise NoToken
        if _count_call is not None:
            rate = _count_call(token)
            request.rate = rate  # type: ignore[attr-defined]
            if rate.exceeded:
                raise TooManyCalls(
                    f"{rate.limit} calls a minute are allowed; go on in {rate.reset} s."
                )
        if not api_tokens.may(token, self.scope):
            raise NeedsScope(
                f"This needs a token with scope {self.scope}; this one has {token.scope}."
            )
        return token

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        return api_tokens.verify(token)


class AsyncBearer(HttpBearer):
    """The same for operations that run on the event loop."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self._bearer = Bearer(scope)

    async def __call__(self, request: HttpRequest) -> ApiToken:
        return await in_pool(self._bearer, request)

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        raise NotImplementedError("asked through __call__")


READ, WRITE, ADMIN = Bearer("read"), Bearer("write"), Bearer("admin")
READ_ASYNC, WRITE_ASYNC = AsyncBearer("read"), AsyncBearer("write")


def token_of(request: HttpRequest) -> ApiToken:
    """The token that a call came with."""
    token: ApiToken = request.auth  # type: ignore[attr-defined]
    return token


def reveal_to_token(request: HttpRequest, session: Session, what: str) -> None:
    """Note that a call is answered with what is hidden from others.

    Raises:
        NeedsScope: for a token without the scope admin.
    """
    token = token_of(request)
    if not api_tokens.may(token, ApiToken.Scope.ADMIN):
        raise NeedsScope(f"Secrets need a token with scope admin; this one has {token.scope}.")
    reveals.reveal(session, what, None, token)


def owned(things: QuerySet[Owned], request: HttpRequest) -> QuerySet[Owned]:
    """Those of ``things`` (a model with a ``team``) that belong to the token's team."""
    return things.filter(team=token_of(request).team)


def load(things: QuerySet[Owned], request: HttpRequest, uuid: UUID) -> Owned:
    """One of them.

    Raises:
        Http404: when it is not there or another team's; the answer does not tell which.
    """
    return access.one(owned(things, request), uuid)
