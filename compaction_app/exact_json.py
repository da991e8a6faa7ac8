"""JSON that comes back as it went in, to the byte, from every database."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import models

if TYPE_CHECKING:
    _Field = models.Field[Any, Any]
else:
    _Field = models.Field


class ExactJson(_Field):
    """A JSON value as ASCII text: key order, floats and half surrogate pairs come back as they went in.

    A database's own JSON type sorts keys and rewrites numbers, so that no two of them give the same
    bytes back.
    """

    def get_internal_type(self) -> str:
        return "TextField"

    def from_db_value(self, value: str | None, *_: object) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else exact_json(value)

    def value_to_string(self, obj: models.Model) -> str:
        return exact_json(self.value_from_object(obj))

    def to_python(self, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value


def exact_json(value: Any) -> str:
    """The one text of a value: ASCII, no blanks, keys in the order they have."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
