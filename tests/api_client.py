"""A program that calls the API with a token."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from sessions_app import api_tokens
from sessions_app.models import Team


@dataclass(frozen=True, slots=True)
class ApiClient:
    """Calls with one token; ``get`` and its like return status and body."""

    secret: str
    client: Client = field(default_factory=Client)

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        sent = None if body is None else json.dumps(body)
        return self.client.generic(
            method,
            f"/api/v1{path}",
            data="" if sent is None else sent,
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.secret}", **headers},
        )

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        answer = self.request(method, path, body, **headers)
        return answer.status_code, json.loads(answer.content) if answer.content else None

    def get(self, path: str) -> Any:
        """The body of an answer that must be 200."""
        status, body = self.call("GET", path)
        assert status == 200, body
        return body

    def post(self, path: str, body: Any) -> Any:
        status, answer = self.call("POST", path, body)
        assert status == 200, answer
        return answer


def api_of(team: Team, scope: str = "read") -> ApiClient:
    return ApiClient(api_tokens.create(team, None, "test", scope).secret)
