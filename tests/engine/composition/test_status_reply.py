"""The lines of /status and /usage, as the runtime writes them."""

from __future__ import annotations

import pytest

from compaction_app.engine.composition.status_reply import (
    age_of,
    context_usage,
    facts_of_entry,
    status_reply,
    token_count,
    usage_line,
)

NOW = 1_767_225_600_000


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(0, "0"), (999, "999"), (999.5, "1000"), (1_000, "1.0k"), (1_250, "1.3k"), (9_949, "9.9k"),
     (9_999, "10.0k"), (10_000, "10k"), (14_500, "15k"), (200_000, "200k"), (1_048_576, "1.0m")],
)  # fmt: skip
def test_tokens_in_short(tokens: float, text: str) -> None:
    assert token_count(tokens) == text


@pytest.mark.parametrize(
    ("total", "window", "text"),
    [
        (14_250, 32_000, "14k/32k (45%)"),
        (None, 32_000, "?/32k"),
        (None, None, "?/?"),
        (14_250, None, "14k/?"),
        (900_000, 1_000, "900k/1.0k (999%)"),
        (0, 200_000, "0/200k (0%)"),
    ],
)
def test_how_full_the_window_is(total: float | None, window: float | None, text: str) -> None:
    assert context_usage(total, window) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [(None, "unknown"), (-5, "unknown"), (29_000, "just now"), (31_000, "1m ago"),
     (59 * 60_000, "59m ago"), (60 * 60_000, "1h ago"), (47 * 3_600_000, "47h ago"),
     (48 * 3_600_000, "2d ago")],
)  # fmt: skip
def test_how_long_ago(ms: float | None, text: str) -> None:
    assert age_of(ms) == text


def test_the_lines_in_the_runtimes_order() -> None:
    entry = {
        "totalTokens": 14_250, "totalTokensFresh": True, "inputTokens": 12_345, "outputTokens": 678,
        "compactionCount": 2, "updatedAt": NOW - 120_000,
    }  # fmt: skip
    facts = facts_of_entry(
        entry,
        version="2026.5.28",
        model="anthropic/m",
        key="agent:main:main",
        context_tokens=32_000,
    )
    assert status_reply(facts, NOW).split("\n") == [
        "🦞 OpenClaw 2026.5.28",
        "🧠 Model: anthropic/m",
        "🧮 Tokens: 12k in / 678 out",
        "📚 Context: 14k/32k (45%) · 🧹 Compactions: 2",
        "🧵 Session: agent:main:main • updated 2m ago",
    ]


def test_what_is_unknown_is_said_to_be_or_left_out() -> None:
    stale = {"totalTokens": 14_250, "totalTokensFresh": False, "compactionCount": "3"}
    facts = facts_of_entry(stale, version="2026.9.6", model="", key="", context_tokens=None)
    assert status_reply(facts, NOW).split("\n") == [
        "🦞 OpenClaw 2026.9.6",
        "🧠 Model: unknown",
        "📚 Context: ?/? · 🧹 Compactions: 0",
        "🧵 Session: unknown • no activity",
    ]


def test_the_line_below_an_answer() -> None:
    assert usage_line(12_345, 678) == "Usage: 12k in / 678 out"
    assert usage_line(None, 678) == "Usage: ? in / 678 out"
    assert usage_line(None, None) is None
