"""How numbers are written: unknown is unknown, never 0."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from sessions_app.templatetags.numbers import brief, grouped, moment, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (0, "0"),
        (-1, "unknown"),
        (None, "unknown"),
        ("", "unknown"),
        (0.125, "0.12"),
        (1234.5, "1,234.50"),
        ("as it is", "as it is"),
    ],
)
def test_grouped(value: object, text: str) -> None:
    assert grouped(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1_234_567, "1.235M"), (0, "0"), (-1, "unknown"), (None, "unknown"), ("x", "x")],
)
def test_brief(value: object, text: str) -> None:
    assert brief(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.925, "92.5 %"), (0, "0.0 %"), (None, "unknown")])
def test_percent(value: object, text: str) -> None:
    assert percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "1970-01-01 00:00:00 UTC"),
        (1_767_225_600_999, "2026-01-01 00:00:00 UTC"),
        (-1, "unknown"),
        (None, "unknown"),
        (10**30, "unknown"),
        ("x", "unknown"),
    ],
)
def test_moment(value: object, text: str) -> None:
    assert moment(value) == text


def test_masked_texts_are_still_escaped() -> None:
    template = Template("{% load numbers %}{{ text|masked }}")
    assert template.render(Context({"text": "<b>"})) == "&lt;b&gt;"


def test_a_link_keeps_the_rest_of_the_address() -> None:
    request = RequestFactory().get("/?q=a%26b&page=3&sort=title")
    template = Template("{% load querystring %}{% changed_query sort='tokens' page=None %}")
    assert template.render(Context({"request": request})) == "q=a%26b&amp;sort=tokens"
