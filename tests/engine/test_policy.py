"""The policy record: the spec's settings, and values read from forms, addresses and files."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.config import agent_keys, model_keys
from compaction_app.engine.config.nodes import Node, Number, node_of
from compaction_app.engine.policy import BY_KEY, SETTINGS, Policy, PolicyError, with_changes
from compaction_app.engine.policy_config import (
    config_changes,
    config_with_policy,
    policy_from_config,
)
from compaction_app.engine.presets import PRESETS
from compaction_app.engine.setting import BadValue, Setting
from tests.engine.policies import policies

# key: (kind, minimum, maximum, above the minimum, default), as spec budgets 8.4 lists them
SPEC: dict[str, tuple[Any, ...]] = {
    "contextWindow": ("number", 0, None, True, None),
    "contextTokens": ("int", 0, None, True, None),
    "maxTokens": ("number", 0, None, True, None),
    "contextLimits.toolResultMaxChars": ("int", 1, 250_000, False, None),
    "contextLimits.postCompactionMaxChars": ("int", 1, 50_000, False, None),
    "compaction.mode": ("choice", None, None, False, "default"),
    "compaction.provider": ("text", None, None, False, ""),
    "compaction.model": ("text", None, None, False, ""),
    "compaction.reserveTokens": ("int", 0, None, False, 16_384),
    "compaction.reserveTokensFloor": ("int", 0, None, False, 20_000),
    "compaction.keepRecentTokens": ("int", 0, None, True, 20_000),
    "compaction.maxHistoryShare": ("number", 0.1, 0.9, False, 0.5),
    "compaction.recentTurnsPreserve": ("int", 0, 12, False, 3),
    "compaction.customInstructions": ("text", None, None, False, ""),
    "compaction.identifierInstructions": ("text", None, None, False, ""),
    "compaction.identifierPolicy": ("choice", None, None, False, "strict"),
    "compaction.qualityGuard.enabled": ("bool", None, None, False, True),
    "compaction.qualityGuard.maxRetries": ("int", 0, None, False, 1),
    "compaction.midTurnPrecheck.enabled": ("bool", None, None, False, False),
    "compaction.postCompactionSections": ("texts", None, None, False, ()),
    "compaction.timeoutSeconds": ("int", 0, None, True, 900),
    "compaction.truncateAfterCompaction": ("bool", None, None, False, False),
    "compaction.maxActiveTranscriptBytes": ("bytes", None, None, False, 0),
    "compaction.notifyUser": ("bool", None, None, False, False),
    "compaction.memoryFlush.enabled": ("bool", None, None, False, True),
    "compaction.memoryFlush.softThresholdTokens": ("int", 0, None, False, 4_000),
    "compaction.memoryFlush.forceFlushTranscriptBytes": ("bytes", None, None, False, 2_097_152),
    "compaction.memoryFlush.model": ("text", None, None, False, ""),
    "compaction.memoryFlush.prompt": ("text", None, None, False, ""),
    "compaction.memoryFlush.systemPrompt": ("text", None, None, False, ""),
    "contextPruning.mode": ("choice", None, None, False, "off"),
    "contextPruning.ttl": ("duration", None, None, False, "5m"),
    "contextPruning.keepLastAssistants": ("int", 0, None, False, 3),
    "contextPruning.softTrimRatio": ("number", 0, 1, False, 0.3),
    "contextPruning.hardClearRatio": ("number", 0, 1, False, 0.5),
    "contextPruning.minPrunableToolChars": ("int", 0, None, False, 50_000),
    "contextPruning.tools.allow": ("texts", None, None, False, ()),
    "contextPruning.tools.deny": ("texts", None, None, False, ()),
    "contextPruning.softTrim.maxChars": ("int", 0, None, False, 4_000),
    "contextPruning.softTrim.headChars": ("int", 0, None, False, 1_500),
    "contextPruning.softTrim.tailChars": ("int", 0, None, False, 1_500),
    "contextPruning.hardClear.enabled": ("bool", None, None, False, True),
    "contextPruning.hardClear.placeholder": (
        "text", None, None, False, "[Old tool result content cleared]",
    ),
}  # fmt: skip


def test_the_record_holds_exactly_the_settings_of_the_spec() -> None:
    assert set(BY_KEY) == set(SPEC)


@pytest.mark.parametrize("key", SPEC)
def test_a_setting_has_the_type_range_and_default_of_the_spec(key: str) -> None:
    s = BY_KEY[key]
    assert (s.kind, s.minimum, s.maximum, s.above_minimum, s.default) == SPEC[key]
    assert getattr(Policy(), s.name) == s.default
    assert s.help


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.key)
def test_a_slider_stays_within_the_bounds(setting: Setting) -> None:
    if setting.low is not None and setting.high is not None:
        assert setting.read(setting.low) == setting.low
        assert setting.read(setting.high) == setting.high
        assert setting.step > 0 and setting.unit


def _schema_node(key: str) -> Node:
    if key in ("contextWindow", "maxTokens"):
        return model_keys.MODEL.fields[key]
    node: Any = agent_keys.DEFAULTS
    for part in key.split("."):
        node = node.fields[part]
    return node  # type: ignore[no-any-return]


@pytest.mark.parametrize("key", SPEC)
def test_the_schema_of_the_file_has_the_same_bounds(key: str) -> None:
    node, own = _schema_node(key), node_of(BY_KEY[key])
    assert type(node) is type(own)
    if isinstance(node, Number):
        assert node == own


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("compaction.reserveTokens", "12,500", 12_500),
        ("compaction.reserveTokens", "1e4", 10_000),
        ("compaction.reserveTokens", "", 16_384),
        ("contextWindow", "32000", 32_000),
        ("contextWindow", "", None),
        ("compaction.maxHistoryShare", "0.35", 0.35),
        ("contextPruning.softTrimRatio", "1", 1),
        ("compaction.memoryFlush.enabled", "off", False),
        ("compaction.memoryFlush.enabled", "TRUE", True),
        ("compaction.mode", "safeguard", "safeguard"),
        ("contextPruning.tools.deny", " read , ,exec", ("read", "exec")),
        ("compaction.memoryFlush.forceFlushTranscriptBytes", "2097152", 2_097_152),
        ("compaction.memoryFlush.forceFlushTranscriptBytes", "40kb", "40kb"),
        ("contextPruning.ttl", "1h", "1h"),
    ],
)
def test_text_of_forms_and_addresses_is_understood(key: str, text: str, value: Any) -> None:
    read = with_changes(Policy(), {key: text})
    assert getattr(read, BY_KEY[key].name) == value
    assert type(getattr(read, BY_KEY[key].name)) is type(value)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("compaction.reserveTokens", "many", "'many' is not a number. A whole number from 0."),
        ("compaction.reserveTokens", "nan", "nan is not a number"),
        ("compaction.reserveTokens", "1e999", "not a number"),
        ("compaction.reserveTokens", "-1", "-1 is out of range. A whole number from 0."),
        ("compaction.reserveTokens", "1.5", "1.5 is not whole."),
        ("compaction.reserveTokens", True, "True is not a number"),
        ("compaction.reserveTokens", [1], "not a number"),
        ("compaction.keepRecentTokens", 0, "0 is out of range. A whole number above 0."),
        (
            "compaction.recentTurnsPreserve",
            13,
            "13 is out of range. A whole number from 0 up to 12.",
        ),
        ("compaction.maxHistoryShare", 0.95, "A number from 0.1 up to 0.9."),
        ("compaction.mode", "fast", "'fast' is not known. Accepted: default, safeguard."),
        ("compaction.notifyUser", "perhaps", "neither true nor false"),
        ("compaction.model", 7, "a text is expected"),
        ("contextPruning.tools.allow", [1], "a list of texts is expected"),
        ("compaction.maxActiveTranscriptBytes", "big", "'big' is no size. Bytes such as"),
        ("compaction.maxActiveTranscriptBytes", -1, "no size"),
        ("compaction.maxActiveTranscriptBytes", 1.5, "no size"),
        ("compaction.maxActiveTranscriptBytes", "9" * 5_000, "no size"),
    ],
)
def test_a_refused_value_is_told_with_its_setting_and_what_is_accepted(
    key: str, value: Any, says: str
) -> None:
    with pytest.raises(BadValue) as caught:
        BY_KEY[key].read(value)
    assert str(caught.value).startswith(f"{key}: ")
    assert says in str(caught.value)


def test_all_refusals_are_told_together_and_an_unknown_key_is_one() -> None:
    with pytest.raises(PolicyError) as caught:
        with_changes(Policy(), {"compaction.mode": "x", "wrong": 1, "contextTokens": 5})
    assert set(caught.value.problems) == {"compaction.mode", "wrong"}
    assert caught.value.problems["wrong"] == "wrong: there is no such setting."


@given(policies(), policies())
def test_changes_between_two_policies_lead_from_one_to_the_other(a: Policy, b: Policy) -> None:
    assert with_changes(a, b.changes(a)) == b
    assert a.changes(a) == {}


NAMES = st.sampled_from([("mock", "filler-1"), ("", ""), ("Mock ", "filler-1"), ("zai", "glm")])


@given(policies(), policies(), NAMES)
def test_a_policy_written_to_a_configuration_is_read_back(
    policy: Policy, other: Policy, names: tuple[str, str]
) -> None:
    provider, model = names
    base = config_with_policy(other, provider, model)
    before = repr(base)
    for start in (None, base):
        written = config_with_policy(policy, provider, model, start)
        read = policy_from_config(written, provider, model)
        assert read.policy == policy
        assert read.problems == ()
    assert repr(base) == before


@given(policies())
def test_the_copied_file_alone_gives_the_policy(policy: Policy) -> None:
    copied = config_changes(policy, [Policy()], "mock", "filler-1")
    read = policy_from_config(copied, "mock", "filler-1")
    assert read.policy == policy
    assert set(read.explicit) == set(policy.changes(Policy()))


@given(policies(), policies())
def test_the_copied_file_merged_into_ones_own_gives_the_policy(own: Policy, policy: Policy) -> None:
    mine = config_with_policy(own, "mock", "filler-1")
    copied = config_changes(policy, [Policy(), own], "mock", "filler-1")
    read = policy_from_config(merged(mine, copied), "mock", "filler-1").policy
    unset = {
        s.name: getattr(own, s.name) for s in SETTINGS if getattr(policy, s.name) in (None, "")
    }
    assert read == dataclasses.replace(policy, **unset)


def merged(mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """One file on top of another; the model lists here hold one model each."""
    both = dict(mine)
    for key, value in theirs.items():
        old = both.get(key)
        if isinstance(old, dict):
            both[key] = merged(old, value)
        elif key == "models" and isinstance(old, list):
            both[key] = [merged(old[0], value[0])]
        else:
            both[key] = value
    return both


def test_nothing_is_copied_of_the_defaults() -> None:
    assert config_changes(Policy(), [Policy()], "p", "m") == {}


def test_a_cleared_setting_leaves_the_file_it_came_from() -> None:
    config = {"agents": {"defaults": {"contextTokens": 20_000, "timeFormat": "24"}}}
    cleared = config_with_policy(Policy(), "p", "m", config)
    assert "contextTokens" not in cleared["agents"]["defaults"]
    assert cleared["agents"]["defaults"]["timeFormat"] == "24"
    assert "models" not in cleared


def test_a_bad_value_of_a_file_is_told_and_its_default_holds() -> None:
    config = {
        "agents": {"defaults": {"compaction": {"reserveTokens": -5, "keepRecentTokens": 900}}}
    }
    read = policy_from_config(config, "p", "m")
    assert read.policy == dataclasses.replace(Policy(), keep_recent_tokens=900)
    assert read.problems == (
        "compaction.reserveTokens: -5 is out of range. A whole number from 0.",
    )


@pytest.mark.parametrize(
    "config",
    [
        {"models": []},
        {"models": {"providers": None}},
        {"models": {"providers": {"mock": None}}},
        {"models": {"providers": {"mock": {"models": None}}}},
        {"models": {"providers": {"mock": {"models": [None, 3, {"id": "m"}]}}}},
        {"agents": "no"},
        {"agents": {"defaults": {"compaction": 7, "contextPruning": []}}},
    ],
)
def test_a_malformed_file_neither_stops_reading_nor_writing(config: dict[str, Any]) -> None:
    assert policy_from_config(config, "mock", "m").policy == Policy()
    policy = dataclasses.replace(Policy(), context_window=32_000)
    assert policy_from_config(
        config_with_policy(policy, "mock", "m", config), "mock", "m"
    ).policy == (policy)


def test_a_fractional_window_is_legal() -> None:
    assert with_changes(Policy(), {"contextWindow": 32_000.5}).context_window == 32_000.5


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.name)
def test_every_preset_is_accepted(preset: Any) -> None:
    with_changes(Policy(), preset.changes)


def test_labels_of_settings_in_the_panel_are_distinct() -> None:
    shown = [s.label for s in SETTINGS if s.has_slider]
    assert len(shown) == len(set(shown))
