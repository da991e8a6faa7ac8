"""A number with its noun."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from sessions_app.plurals import counted


@pytest.mark.parametrize(
    ("number", "nouns", "text"),
    [
        (0, ("call",), "0 calls"),
        (1, ("call",), "1 call"),
        (2_000, ("call",), "2,000 calls"),
        (1, ("entry", "entries"), "1 entry"),
        (2, ("entry", "entries"), "2 entries"),
    ],
)
def test_one_is_singular_and_everything_else_plural(
    number: int, nouns: tuple[str, ...], text: str
) -> None:
    assert counted(number, *nouns) == text
    page = Template("{% load numbers %}{{ n|counted:nouns }}")
    assert page.render(Context({"n": number, "nouns": ",".join(nouns)})) == text
