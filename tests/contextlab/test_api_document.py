"""The OpenAPI document says of everything what it means, with an example that fits, and so does the guide."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
from django.conf import settings

from contextlab.api import api
from contextlab.api_document import operations
from contextlab.problems import CONTENT_TYPE

Json = dict[str, Any]
DOCUMENT: Json = json.loads(json.dumps(api.get_openapi_schema(), default=str))
SCHEMAS: Json = DOCUMENT["components"]["schemas"]
GUIDE = Path(settings.BASE_DIR, "docs", "api.md").read_text(encoding="utf-8")


def parameters() -> Iterator[tuple[str, Json]]:
    for path, operation in DOCUMENT["paths"].items():
        for method, said in operation.items():
            for parameter in said.get("parameters", ()):
                yield f"{method} {path} {parameter['name']}", parameter


def fields() -> Iterator[tuple[str, Json]]:
    for name, schema in SCHEMAS.items():
        for field, said in schema.get("properties", {}).items():
            yield f"{name}.{field}", said


def fits(schema: Json, example: Any) -> bool:
    whole = {**schema, "components": DOCUMENT["components"]}
    return bool(jsonschema_rs.is_valid(whole, example))


def test_every_operation_schema_parameter_and_field_is_described() -> None:
    silent = [str(each["operationId"]) for each in operations(DOCUMENT) if not each["description"]]
    silent += [name for name, schema in SCHEMAS.items() if not schema.get("description")]
    silent += [name for name, said in (*parameters(), *fields()) if not said.get("description")]
    assert silent == []


def test_every_parameter_and_field_has_an_example_that_fits() -> None:
    without = [name for name, said in parameters() if "example" not in said]
    without += [name for name, said in fields() if not said.get("examples")]
    assert without == []
    wrong = [n for n, said in parameters() if not fits(said["schema"], said["example"])]
    wrong += [name for name, said in fields() if not fits(said, said["examples"][0])]
    assert wrong == []


def test_sizes_name_their_unit() -> None:
    units = ("token", "character", "byte", "ratio", "share", "milliseconds", "seconds")
    sizes = ("token", "char", "byte", "estimated", "billed", "window", "peak", "exact")
    nameless = [
        name
        for name, said in fields()
        if any(size in name.rpartition(".")[2].lower() for size in sizes)
        and said.get("type") in ("integer", "number")
        and not any(unit in said["description"].lower() for unit in units)
    ]
    assert nameless == []


def test_the_guide_names_every_address() -> None:
    missing = []
    for path, methods in DOCUMENT["paths"].items():
        short = path.removeprefix("/api/v1")
        for name in ("session", "agent", "job", "decision"):
            short = short.replace(f"{{{name}_id}}", "{id}")
        addresses = (f"`{method.upper()} {short}`" for method in methods)
        missing += [address for address in addresses if address not in GUIDE]
    assert missing == []


def test_errors_are_described_as_problems() -> None:
    for operation in operations(DOCUMENT):
        told = {
            int(status): set(r.get("content", {})) for status, r in operation["responses"].items()
        }
        assert {401, 403, 404, 422, 429} <= set(told)
        assert all(kinds == {CONTENT_TYPE} for status, kinds in told.items() if status >= 400)
