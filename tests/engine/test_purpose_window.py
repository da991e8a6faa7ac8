"""The windows that flush, status and reply assume."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.purpose_window import (
    cached_window,
    flush_provider,
    flush_window,
    reply_window,
    reply_window_cached,
    reply_window_overridden,
    session_table_window,
    status_window,
)
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.engine.window import OPENCLAW_2026_5_28 as CHAIN
from compaction_app.engine.window import WindowRequest

REQUEST = WindowRequest(
    {"models": {"providers": {"x": {"models": [{"id": "m", "contextWindow": 96_000}]}}}}, "m", "x"
)
UNKNOWN = WindowRequest({}, "m", "x")


@given(st.integers(1, 10**6))
def test_one_setting_overrides_the_flush_and_caps_the_reply(context_tokens: int) -> None:
    assert flush_window(CHAIN, {}, REQUEST, context_tokens).tokens == context_tokens
    assert reply_window(CHAIN, {}, REQUEST, context_tokens).tokens == min(context_tokens, 96_000)


def test_without_the_setting_both_take_the_chain_and_then_the_default() -> None:
    for window in (flush_window, reply_window):
        assert window(CHAIN, {}, REQUEST, None).tokens == 96_000
        found = window(CHAIN, {}, UNKNOWN, None)
        assert (found.tokens, found.source) == (200_000, "default")
        assert found.trace[-1].source == "default"


def test_the_reply_takes_the_setting_alone_where_nobody_knows_the_window() -> None:
    found = reply_window(CHAIN, {}, UNKNOWN, 64_000.9)
    assert (found.tokens, found.source) == (64_000, "agents.defaults.contextTokens")


def test_a_capped_reply_names_the_window_it_capped() -> None:
    found = reply_window(CHAIN, {}, REQUEST, 64_000)
    assert (found.tokens, found.reference_tokens) == (64_000, 96_000)
    equal = reply_window(CHAIN, {}, REQUEST, 96_000)
    assert (equal.tokens, equal.reference_tokens) == (96_000, None)
    assert equal.trace[-1].verdict == "does_not_cap"


@pytest.mark.parametrize("useless", [0, -1, "64000"])
def test_a_useless_setting_does_not_cap(useless: object) -> None:
    assert reply_window(CHAIN, {}, REQUEST, useless).tokens == 96_000
    assert flush_window(CHAIN, {}, REQUEST, useless).tokens == 96_000


def test_a_cap_stays_out_of_the_reply_even_when_the_request_carries_an_override() -> None:
    asked = WindowRequest(REQUEST.config, "m", "x", override=5)
    assert reply_window(CHAIN, {}, asked, None).tokens == 96_000


@pytest.mark.parametrize("setting", [0, 0.5, 300_000])
def test_the_setting_once_replaced_the_reply_window_whatever_it_was(setting: float) -> None:
    assert reply_window_overridden(CHAIN, {}, REQUEST, setting).tokens == setting
    assert reply_window_cached(CHAIN, {"m": 7}, REQUEST, setting).tokens == setting


def test_the_earliest_windows_came_from_the_cache() -> None:
    assert reply_window_cached(CHAIN, {"m": 7}, REQUEST, None).tokens == 7
    assert reply_window_cached(CHAIN, {}, REQUEST, None).tokens == 200_000
    assert reply_window_overridden(CHAIN, {}, REQUEST, None).tokens == 96_000
    assert cached_window(CHAIN, {"m": 7}, REQUEST, 99).tokens == 7
    assert cached_window(CHAIN, {"x/m": 7}, REQUEST, 99).tokens == 99
    assert cached_window(CHAIN, {}, REQUEST, None).tokens == 200_000


def test_openai_on_the_codex_runtime_has_a_name_of_its_own() -> None:
    assert flush_provider(" OpenAI ", "codex") == "openai-codex"
    assert flush_provider("openai", None) == "openai"
    assert flush_provider("x", "codex") == "x"
    assert flush_provider(None, "codex") is None


def status(**values: Any) -> Any:
    return status_window(CHAIN, {}, REQUEST, 50_000, **values).tokens


def test_the_status_message_takes_the_first_value_present_three_of_them_capped() -> None:
    every = {"session": 60_000, "defaults": 2, "agent": 3, "runtime": 4}
    assert status(channel_model=90_000, **every) == 90_000
    assert status(**every) == 50_000
    assert status(defaults=40_000, agent=3) == 40_000
    assert status(agent=70_000, runtime=4) == 50_000
    assert status(runtime=70_000) == 70_000
    assert status() == 96_000
    assert status_window(CHAIN, {}, UNKNOWN, 50_000).tokens == 200_000


def test_a_present_value_that_is_useless_still_hides_those_after_it() -> None:
    assert status(session=0, defaults=40_000) == 96_000


def test_the_session_table_falls_back_on_the_configuration() -> None:
    assert session_table_window(CHAIN, {}, REQUEST, 5, session=7).tokens == 7
    assert session_table_window(CHAIN, {}, REQUEST, 5).tokens == 96_000
    assert session_table_window(CHAIN, {}, UNKNOWN, 5).tokens == 5
    assert session_table_window(CHAIN, {}, UNKNOWN, None).tokens == 200_000


def test_every_rule_set_resolves_both_windows() -> None:
    for rules in RULE_SETS.values():
        for window in (rules.purpose_window.flush, rules.purpose_window.reply):
            assert window(rules.window_chain, {}, UNKNOWN, None).tokens == 200_000
