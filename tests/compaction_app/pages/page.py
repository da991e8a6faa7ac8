"""The session page as its tests look at it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse

from sessions_app.models import Session

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
CONFIG: dict[str, Any] = {
    "models": {
        "providers": {
            "mock": {
                "baseUrl": "http://127.0.0.1/v1",
                "models": [{"id": "m", "name": "m", "contextWindow": 32_000}],
            }
        }
    },
    "agents": {"defaults": {"compaction": {"keepRecentTokens": 2_000}}},
}
RESULT = {"HX-Request": "true", "HX-Target": "result"}
DETAILS = {"HX-Request": "true", "HX-Target": "details"}
WORK = {"HX-Request": "true", "HX-Target": "work"}


class Page(HTMLParser):
    """What a page consists of: elements with their attributes, and ids."""

    def __init__(self, answer: HttpResponse) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(answer.content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def ids(self) -> set[str]:
        return {attributes["id"] for _, attributes in self.elements if "id" in attributes}

    def field(self, name: str) -> dict[str, str]:
        return next(
            a for t, a in self.elements if t in ("input", "select") and a.get("name") == name
        )

    def line(self, name: str) -> dict[str, str]:
        return next(a for a in self.named("path") if a.get("data-line") == name)


def address(session: Session, **query: Any) -> str:
    return f"/sessions/{session.uuid}/" + (f"?{urlencode(query)}" if query else "")


def rows(answer: HttpResponse) -> dict[str, list[str]]:
    """The difference table: title to recorded, own settings, what-if."""
    found = re.findall(
        r'<tr data-row="([^"]+)">.*?<td class="n">(.*?)</td><td class="n">(.*?)</td>'
        r'<td class="n [^"]*">(.*?)</td>',
        answer.content.decode(),
    )
    return {title: list(cells) for title, *cells in found}
