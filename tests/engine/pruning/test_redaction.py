"""Which parts of a text are secrets."""

from __future__ import annotations

import pytest
from hypothesis import given

from compaction_app.engine.pruning.redaction import (
    Redaction,
    holds_partial_secret,
    is_sensitive_key,
    masked,
    redaction,
)
from tests.engine.pruning.messages import texts

LONG = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"OPENAI_API_KEY={LONG}", "OPENAI_API_KEY=abcdef…wxyz"),
        (f"export DB_PASSWORD='{LONG}'", "export DB_PASSWORD='abcdef…wxyz'"),
        (f"my api_key={LONG} ok", "my api_key=abcdef…wxyz ok"),
        ("https://x/?a=1&token=short&b=2", "https://x/?a=1&token=***&b=2"),
        (f'{{"apiKey": "{LONG}"}}', '{"apiKey": "abcdef…wxyz"}'),
        (f"tool --token {LONG} run", "tool --token abcdef…wxyz run"),
        ("Authorization: Bearer abcdefghijklmnopqrstuvwx", "Authorization: Bearer abcdef…uvwx"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ***"),
        (f"ghp_{LONG}", "ghp_ab…wxyz"),
        ("sk-short-1234", "***"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\n…redacted…\n-----END RSA PRIVATE KEY-----",
        ),
    ],
)
def test_secrets_are_masked(text: str, hidden: str) -> None:
    assert Redaction().text(text) == hidden


@pytest.mark.parametrize(
    "text", ["plain", "the token is valid", "keyboard = x", "totalTokens: 5", "sk-", "a=b"]
)
def test_other_texts_are_left_alone(text: str) -> None:
    assert Redaction().text(text) == text


@given(text=texts)
def test_masking_never_fails(text: str) -> None:
    assert Redaction().text(text) == Redaction().text(text)


@pytest.mark.parametrize("name", ["token", "apiKey", "client_secret", "GITHUB_TOKEN", "Password"])
def test_sensitive_keys(name: str) -> None:
    assert is_sensitive_key(name)


@pytest.mark.parametrize("name", ["key", "tokens", "totalTokens", "secretary", "status"])
def test_plain_keys(name: str) -> None:
    assert not is_sensitive_key(name)


def test_everything_below_a_sensitive_key_is_masked() -> None:
    value = {"secret": {"n": 5, "flag": True, "s": LONG, "none": None}, "n": 5}
    assert Redaction().value(value, mask_scalars=True) == {
        "secret": {"n": "***", "flag": "***", "s": "abcdef…wxyz", "none": None},
        "n": 5,
    }
    assert Redaction().value(value, mask_scalars=False)["secret"]["n"] == 5


def test_what_holds_no_secret_is_the_same_object() -> None:
    value = {"a": [1, {"b": "text"}], "c": None}
    assert Redaction().value(value, mask_scalars=True) is value


def test_more_patterns_can_be_configured() -> None:
    hide = redaction({"redactPatterns": ["ticket-([0-9]+)", "/SECRETLY/", "([", 7]})
    assert hide.text("Ticket-1234 SECRETLY secretly") == "Ticket-*** *** secretly"


def test_a_mask_keeps_both_ends_of_a_long_value() -> None:
    assert masked("a" * 17) == "***" and masked("😀" * 9) == "😀😀😀…😀😀"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *(("token=abcdefgh", True), ("token=***abcdef", False), ("token=abc", False)),
        ("-----BEGIN PRIVATE KEY", True),
    ],
)
def test_half_a_secret_is_noticed(text: str, found: bool) -> None:
    assert holds_partial_secret(text) == found
