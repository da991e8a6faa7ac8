"""What is wrong with a request, field by field, and what to do: in our words, without the values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from json import JSONDecodeError
from typing import Any, Final

Context = Mapping[str, Any]
BODY: Final = "body"
SOURCES: Final = ("body", "query", "path", "header", "cookie", "form")
BRANCHES: Final[Mapping[str, str]] = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list[str]": "a list of texts",
}
"""How the choices of a field that takes several kinds of value are named in the place of an error."""


def _counted(number: Any, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many}"


TEXTS: Final[Mapping[str, Callable[[Context], str]]] = {
    "missing": lambda c: "is missing; send it",
    "extra_forbidden": lambda c: "there is no such field; leave it out, or see /api/v1/docs for its name",
    "string_too_short": lambda c: f"must have at least {_counted(c['min_length'], 'character', 'characters')}",
    "string_too_long": lambda c: f"must have at most {_counted(c['max_length'], 'character', 'characters')}",
    "too_short": lambda c: f"must have at least {_counted(c['min_length'], 'item', 'items')}",
    "too_long": lambda c: f"must have at most {_counted(c['max_length'], 'item', 'items')}; send the rest in another call",
    "greater_than_equal": lambda c: f"must be {c['ge']:,} or more",
    "less_than_equal": lambda c: f"must be {c['le']:,} or less",
    "greater_than": lambda c: f"must be more than {c['gt']:,}",
    "less_than": lambda c: f"must be less than {c['lt']:,}",
    "literal_error": lambda c: f"must be {c['expected']}",
    "enum": lambda c: f"must be {c['expected']}",
    "string_pattern_mismatch": lambda c: "must hold no NUL character",
    "string_unicode": lambda c: "must be well-formed Unicode",
    "finite_number": lambda c: "must be a finite number",
    "int_from_float": lambda c: "must be a whole number",
    **dict.fromkeys(("int_type", "int_parsing"), lambda c: "must be a whole number"),
    "int_parsing_size": lambda c: "must be a smaller number",
    **dict.fromkeys(("float_type", "float_parsing"), lambda c: "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), lambda c: "must be true or false"),
    "string_type": lambda c: "must be a text",
    "list_type": lambda c: "must be a list: [...]",
    **dict.fromkeys(
        ("dict_type", "model_type", "model_attributes_type", "mapping_type"),
        lambda c: "must be an object: {...}",
    ),
    **dict.fromkeys(
        ("uuid_type", "uuid_parsing", "uuid_version"),
        lambda c: "must be an id as this API gives them, such as 6f1f8a2e-7a0e-4b5e-9f0f-0d8e4e0f6c11",
    ),
}  # fmt: skip
"""By the validator's name of the fault (pydantic's error types)."""


def refusals(errors: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Each refused field once, by its place in the request (``settings.compaction.mode``)."""
    told: dict[str, dict[str, str]] = {}
    choices: dict[str, list[str]] = {}
    for error in errors:
        place = list(error["loc"])
        branch = BRANCHES.get(str(place[-1])) if len(place) > 1 else None
        if branch is not None and error["type"] != "missing":
            field = field_at(place[:-1])
            choices.setdefault(field, []).append(branch)
            what = "must be " + _or([*choices[field]])
        else:
            field = field_at(place)
            told_as = TEXTS.get(error["type"])
            what = told_as(error.get("ctx") or {}) if told_as else "has a value that cannot be used"
        told[field] = {"field": field, "message": f"{field}: {what}."}
    return list(told.values())


def unreadable(fault: BaseException | None) -> str:
    """Where a body stops being JSON, and what was expected there."""
    match fault:
        case JSONDecodeError():
            at = f"line {fault.lineno}, column {fault.colno}"
            return f"The body is no JSON: {at}: {fault.msg[:1].lower()}{fault.msg[1:]}."
        case UnicodeDecodeError():
            return f"The body is no UTF-8: byte {fault.start + 1} cannot be read."
        case RecursionError():
            return "The body is nested too deeply."
    return "The body must be JSON in UTF-8."


def field_at(place: Sequence[Any]) -> str:
    """`("body", "payload", "policy", "x")` as `policy.x`; the whole body is `body`."""
    parts = [str(part) for part in place]
    if parts and parts[0] in SOURCES:
        parts = parts[1:]
    if parts and parts[0] == "payload":
        parts = parts[1:]
    return ".".join(parts) or BODY


def _or(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
