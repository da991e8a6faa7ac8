"""What is found in a text as a secret, and what looks like one and is none."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.secret_texts.finding import secrets_in, secrets_of_texts, texts_of

ROOT = Path(__file__).resolve().parents[3]
MIXED = "Zq7Rk2Vw9Xb4Nc6Tm1Yp8Ls3Hd5Jf0Ga"
LETTERS = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"  # fmt: skip
LINE = "MIIEowIBAAKCAQEAx1Fz9J8s0mVnqZ3kTqJ7vYw2bPq8dLr4uHnXc6Ea5Gt0Ws1Ry"
RSA = f"-----BEGIN RSA PRIVATE KEY-----\n{LINE}\n{LINE}\nZm9vYmFy\n-----END RSA PRIVATE KEY-----"

SECRETS = {
    "Anthropic": f"sk-ant-api03-{MIXED}",
    "OpenAI": f"sk-proj-{MIXED}",
    "OpenAI, old": f"sk-{LETTERS}",
    "OpenRouter": f"sk-or-v1-{MIXED}{MIXED}",
    "Google": "AIzaSyD3x4mPl3K3yF0rT3st1ngPurp0s3s0nly"[:39],
    "Hugging Face": f"hf_{LETTERS}",
    "Groq": f"gsk_{LETTERS}{LETTERS}",
    "GitHub": f"ghp_{LETTERS}",
    "GitHub, fine": f"github_pat_{LETTERS}_{LETTERS}",
    "GitLab": "glpat-Xy7_9zQ2mN4pR6tV8wB1",
    "PyPI": "pypi-AgEIcHlwaS5vcmc" + MIXED * 2,
    "npm": f"npm_{LETTERS}",
    "Slack": "xoxb-123456789012-123456789012-abcDEF123ghiJKL456",
    "Slack hook": "https://hooks.slack.com/services/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",
    "Stripe": "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "SendGrid": "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",
    "AWS id": "AKIAIOSFODNN7EXAMPLE",
    "Telegram": "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
    "JWT": JWT,
    "private key": RSA,
}
IN_CONTEXT = {
    "AWS secret": ("aws_secret_access_key = {}", "wJalrXUtnFEMIK7MDENGbPxRfiCYzK3pL9q2Rt5v"),
    "environment": ("export DB_TOKEN={}\n", "q8Zr2Lk9Xv4Bn7Wm1Td6"),
    "YAML": ("client_secret: {}\nport: 80", "q8Zr2Lk9-Xv4Bn7Wm1Td6"),
    "JSON": ('{{"apiKey": "{}", "a": 1}}', "q8Zr2Lk9Xv4Bn7Wm1Td6"),
    "JSON in JSON": ('{{\\"password\\": \\"{}\\"}}', "hunter2hunter2"),
    "password": ('password = "{}"', "correct9horse!"),
    "flag": ("tool --token {} run", "q8Zr2Lk9Xv4Bn7Wm1Td6"),
    "header": ("curl -H 'Authorization: Bearer {}' x", "q8Zr2Lk9Xv4Bn7Wm1Td6.abc"),
    "basic": ("Authorization: Basic {}\r\n", "dXNlcjpwYXNzMTIz"),
    "URL": ("postgres://app:{}@db.internal:5432/x", "s3cr3tPa55"),
    "query": ("GET /x?access_token={}&page=2", "q8Zr2Lk9Xv4Bn7Wm1Td6"),
    "npmrc": ("//r.example.org/:_authToken={}\n", "3f2504e0-4f89-11d3-9a0c-0305e82c3301"),
}
INNOCENT = (
    "commit 3f786850e387550fdab836ed7e6dc881de23001b, tree 89e6c98d92887913cadf06b2adb97f26cde4849b",
    "session 3f2504e0-4f89-11d3-9a0c-0305e82c3301 of agent:main:main",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    '"tokens": 12345, "maxTokens": 8192, "token_count": 77, "inputTokens": 1234567890',
    'password = os.environ["DB_PASSWORD"]; token = get_token(request); secret: str | None = None',
    'password: string;  type="password" name="password" placeholder=\'Your password\'',
    "curl -H 'Authorization: Bearer $TOKEN' https://user:password@example.org https://host:8080/a@b",
    "the token is sent with each call; the secret of good code is a good name",
    "task-scheduler risk-assessment-2024-01-report desk-12345678901234567890 xai-grok-4-fast",
    "-----BEGIN RSA PRIVATE KEY----- is how such a file begins, as everybody knows it does",
    "API_KEY=your-api-key-here OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx token=<token> key=***",
    "data:image/png;base64," + (MIXED + "AKIAIOSFODNN7EXAMPLE" + MIXED) * 60,
    "rules: MessageTokenRules = OPENCLAW_2026_5_28, tokenizer: cl100k_base",
)


@pytest.mark.parametrize("name", SECRETS)
def test_a_key_of_a_known_shape_is_found_alone_and_whole(name: str) -> None:
    secret = SECRETS[name]
    text = f"use {secret}, and no other"
    assert [text[s.start : s.end] for s in secrets_in(text)] == [secret]


@pytest.mark.parametrize("name", IN_CONTEXT)
def test_a_value_is_found_by_what_it_is_given_to(name: str) -> None:
    frame, secret = IN_CONTEXT[name]
    text = frame.format(secret)
    assert [text[s.start : s.end] for s in secrets_in(text)] == [secret]


@pytest.mark.parametrize("text", INNOCENT, ids=range(len(INNOCENT)))
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert secrets_in(text) == []


def test_the_code_and_the_recorded_sessions_of_this_project_hold_no_secret() -> None:
    files = [*ROOT.glob("sessions_app/**/*.py"), *ROOT.glob("docs/*.md"), *ROOT.glob("tests/data/transcripts/*1*")]  # fmt: skip
    found = {}
    for file in files:
        text = file.read_text("utf-8", "replace")
        if spans := secrets_in(text[:200_000]):
            found[file.name] = [text[s.start : s.end] for s in spans]
    assert len(files) > 100
    assert found == {}


def test_addresses_of_people_are_secrets_when_asked_for() -> None:
    text = "from ann.b+c@mail.example.org to @all, x@y"
    assert secrets_in(text) == []
    assert [text[s.start : s.end] for s in secrets_in(text, emails=True)] == [
        "ann.b+c@mail.example.org"
    ]


@pytest.mark.parametrize("length", [12, 20, 40])
def test_the_beginning_of_a_key_counts_where_the_text_was_cut(length: int) -> None:
    text = f"the key is sk-ant-api03-{MIXED}"[: 11 + length]
    assert [s.start for s in secrets_in(text, is_cut=True)] == [11]


def test_offsets_hold_in_texts_of_any_language() -> None:
    text = f"İstanbul 🙂 ключ {SECRETS['GitHub']} 鍵"
    assert [text[s.start : s.end] for s in secrets_in(text)] == [SECRETS["GitHub"]]


def test_a_field_is_a_secret_by_its_name() -> None:
    record = {"a": ["x"], "args": {"password": "correcthorse", "tokens": "12345678", "id": "p4ssw0rd"}}  # fmt: skip
    texts = list(texts_of(record))
    found = secrets_of_texts(texts)
    assert [texts[at] for at in found] == [("password", "correcthorse")]


@given(st.text(alphabet="ab:/@=\"' -_.AKeyJ0\n\\", max_size=300), st.sampled_from(sorted(SECRETS)))
def test_spans_are_in_order_and_apart_whatever_stands_around(around: str, name: str) -> None:
    text = f"{around} {SECRETS[name]} {around}"
    spans = secrets_in(text)
    assert all(0 <= s.start < s.end <= len(text) for s in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert any(s.start <= len(around) + 1 and s.end >= len(around) + 20 for s in spans)


@given(st.uuids(), st.integers(0, 2**256))
def test_ids_and_digests_are_none(identity: UUID, number: int) -> None:
    assert secrets_in(f"id {identity} sha256:{number:064x} md5 {number % 2**128:032x}") == []


@pytest.mark.parametrize(
    "piece", ["password=", "eyJ", "://a:", "sk-ant-", "-----BEGIN RSA PRIVATE KEY-----\n", "aws key ", "token: a"]
)  # fmt: skip
def test_the_cost_grows_with_the_length_and_not_with_its_square(piece: str) -> None:
    def seconds(count: int) -> float:
        text = piece * count
        began = time.process_time()
        secrets_in(text)
        return time.process_time() - began

    seconds(100)
    short = min(seconds(1_000) for _ in range(3))
    long = min(seconds(8_000) for _ in range(2))
    assert long < 8 * max(short, 0.001) * 4
