"""The site's addresses, and the bare one: on the same server, behind the same middleware."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.urls import path
from ninja import NinjaAPI, Schema
from ninja.security import HttpBearer

from contextlab.urls import urlpatterns as ours
from sessions_app import api_tokens
from sessions_app.models import ApiToken
from tests.bench.bare.models import Row


class Token(HttpBearer):
    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        return api_tokens.verify(token)


class Body(Schema):
    messages: list[dict[str, Any]]


api = NinjaAPI(title="bare", urls_namespace="bare", docs_url=None, openapi_url=None)


@api.post("/sessions/{uuid:session_id}/messages", auth=Token())
def write_row(request: HttpRequest, session_id: UUID, payload: Body) -> dict[str, Any]:
    row = Row.objects.create(session=session_id, body=payload.dict())
    return {"id": row.pk}


addresses, *names = api.urls
for address in addresses:
    address.callback.login_required = False  # it asks for its token itself
urlpatterns = [path("api/bare/", (addresses, *names)), *ours]
