"""The OpenAPI document, completed: what an error is, what each parameter means, examples of nested parts.

A field whose type is another schema has that schema's fields as its example, so that none is written twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from contextlab.problems import CONTENT_TYPE

Json = dict[str, Any]
ID: Final = "6f1f8a2e-7a0e-4b5e-9f0f-0d8e4e0f6c11"
PARAMETERS: Final[Mapping[str, tuple[str, Any]]] = {
    "session_id": ("The session's id.", ID),
    "agent_id": ("The agent's id.", "f2a7c6b1-3d57-4c0b-8a3e-0f4f7a6b2d90"),
    "job_id": ("The job's id.", "0b9d2f64-8a3c-4c55-9d1e-6b1f2a7c9e10"),
    "decision_id": ("The decision's id.", "5c3de7d2-7f6b-49a1-bb44-1a0f0f1f8c55"),
    "name": ("The file's name below the workspace.", "memory/2026-12-01.md"),
    "call": ("Number of the model call on the newest branch, from 1.", 61),
    "seq": ("Number of the entry, from 0.", 122),
    "originals": ("With its secrets; it is noted who asks.", False),
    "command": ("The command, as it is typed.", "/context list"),
    "before": ("`next` of the page before; without it the newest come.", 1287),
    "after": ("`next` of the page before; without it the first come.", 1287),
    "limit": ("Most items of one answer.", 50),
    "q": ("Part of title, model or key.", "migration"),
    "wait": ("Seconds to hold the answer.", 30),
    "kind": ("Only of this kind.", "compaction"),
    "outcome": ("Only those with this outcome.", "skip"),
    "reason": ("Only those with this reason code.", "already_flushed"),
    "state": ("Only in this state: queued, running, succeeded, failed or cancelled.", "running"),
    "session": ("Only those of this session.", ID),
    "Last-Event-ID": ("Where to go on; browsers send it themselves.", "17"),
}
"""What a parameter means that says nothing of itself, and an example of every one, by name."""


def complete(document: Json) -> Json:
    """The document that django-ninja made, with what it leaves out; changed in place."""
    for operation in operations(document):
        for parameter in operation.get("parameters", ()):
            text, example = PARAMETERS[parameter["name"]]
            parameter.setdefault("description", text)
            parameter.setdefault("example", example)
        for status, response in operation["responses"].items():
            content = response.get("content", {})
            if int(status) >= HTTPStatus.BAD_REQUEST and "application/json" in content:
                content[CONTENT_TYPE] = content.pop("application/json")
    schemas = document["components"]["schemas"]
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            if "examples" not in field and (found := _named(field)):
                example = _example(schemas, found)
                field["examples"] = [[example] if _is_list(field) else example]
    return document


def operations(document: Mapping[str, Any]) -> Iterator[Json]:
    """All operations of a document."""
    for path in document["paths"].values():
        yield from path.values()


def _example(schemas: Json, name: str) -> Json:
    """An object of a schema, made of the examples of its fields."""
    example: Json = {}
    for key, field in schemas[name].get("properties", {}).items():
        if "examples" in field:
            example[key] = field["examples"][0]
        elif found := _named(field):
            inner = _example(schemas, found)
            example[key] = [inner] if _is_list(field) else inner
    return example


def _kinds(field: Mapping[str, Any]) -> list[Json]:
    return [dict(field), *field.get("allOf", ()), *field.get("anyOf", ())]


def _is_list(field: Mapping[str, Any]) -> bool:
    return any(kind.get("type") == "array" for kind in _kinds(field))


def _named(field: Mapping[str, Any]) -> str | None:
    """The schema that a field, or a list of its values, is of."""
    for kind in _kinds(field):
        address = kind.get("$ref") or kind.get("items", {}).get("$ref")
        if address:
            return str(address).rsplit("/", 1)[-1]
    return None
