"""What is wrong with a configuration."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.config.nodes import Node, Strict
from compaction_app.engine.config.schema import OPENCLAW_2026_4_20, OPENCLAW_2026_5_28
from compaction_app.engine.config.validate import Issue, validate_config
from compaction_app.engine.policy import BY_KEY


def defaults(**fields: Any) -> dict[str, Any]:
    return {"agents": {"defaults": fields}}


def issues(config: object, rules: Any = OPENCLAW_2026_5_28) -> list[Issue]:
    return validate_config(config, rules)


def said(config: object, rules: Any = OPENCLAW_2026_5_28) -> list[tuple[str, str]]:
    return [(issue.path, issue.message) for issue in issues(config, rules)]


def nearest(config: object) -> list[str | None]:
    return [key.nearest for issue in issues(config) for key in issue.unknown_keys]


def test_a_sound_file_has_no_issues() -> None:
    assert issues({"$schema": "x", "gateway": {"port": 1}, **defaults(workspace="/w")}) == []


def test_inner_problems_come_before_outer_ones_and_values_before_unknown_keys() -> None:
    config = {"a": 1, "b": 2, **defaults(bogus=1, compaction={"x": 1, "reserveTokens": "z"})}
    assert [path for path, _ in said(config)] == [
        "agents.defaults.compaction.reserveTokens",
        "agents.defaults.compaction",
        "agents.defaults",
        "",
    ]
    assert said(config)[-1][1] == 'Unrecognized keys: "a", "b"'


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ({"compaction": {"reserveTokenFloor": 1}}, "agents.defaults.compaction.reserveTokensFloor"),
        ({"compaction": {"reserve_tokens": 1}}, "agents.defaults.compaction.reserveTokens"),
        (
            {"compaction": {"softThresholdTokens": 1}},
            "agents.defaults.compaction.memoryFlush.softThresholdTokens",
        ),
        ({"memoryFlush": {}}, "agents.defaults.compaction.memoryFlush"),
        ({"contextTokens ": 1}, "agents.defaults.contextTokens"),
        ({"zzzzqqqq": 1}, None),
        ({"k" * 5000: 1}, None),
    ],
)
def test_an_unknown_key_names_the_nearest_valid_one(key: Any, expected: str | None) -> None:
    assert nearest(defaults(**key)) == [expected]


def test_what_only_the_defaults_take_is_pointed_out_to_an_agent() -> None:
    config = {"agents": {"list": [{"id": "a", "compaction": {}, "contextPruning": {}}]}}
    assert nearest(config) == ["agents.defaults.compaction", "agents.defaults.contextPruning"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "Too small: expected number to be >=0 (minimum: 0)"),
        (1.5, "Invalid input: expected int, received number"),
        (2**53, "Too big: expected int to be <=9007199254740991"),
        ("5", "Invalid input: expected number, received string"),
        (None, "Invalid input: expected number, received null"),
        (True, "Invalid input: expected number, received boolean"),
        ([], "Invalid input: expected number, received array"),
        (float("nan"), "Invalid input: expected number, received NaN"),
    ],
)
def test_numbers_are_not_made_of_anything_else(value: object, message: str) -> None:
    expected = [("agents.defaults.compaction.reserveTokens", message)]
    assert said(defaults(compaction={"reserveTokens": value})) == expected


def test_the_earlier_version_does_not_repeat_the_bound() -> None:
    config = defaults(compaction={"reserveTokens": -1})
    assert said(config, OPENCLAW_2026_4_20)[0][1] == "Too small: expected number to be >=0"


@pytest.mark.parametrize(
    ("value", "message"),
    [(-1, "Too small: expected number to be >=0 (minimum: 0)"), ("2 MB", "Expected byte size string like 2mb"),
     (1.5, "Invalid input"), (None, "Invalid input"), (0, None), ("1.5gb", None)],
)  # fmt: skip
def test_sizes_are_whole_bytes_or_texts(value: object, message: str | None) -> None:
    found = said(defaults(compaction={"maxActiveTranscriptBytes": value}))
    assert [text for _, text in found] == ([message] if message else [])


def provider(name: str, **fields: Any) -> dict[str, Any]:
    return {"models": {"providers": {name: fields}}}


def test_a_custom_provider_must_say_where_it_is_and_what_it_offers() -> None:
    paths = [path for path, _ in said(provider("mine"))]
    assert paths == ["models.providers.mine.baseUrl", "models.providers.mine.models"]
    assert said(provider(" Ollama ")) == []
    assert [path for path, _ in said(provider("ollama"), OPENCLAW_2026_4_20)] == [
        "models.providers.ollama.baseUrl",
        "models.providers.ollama.models",
    ]


def test_an_object_with_a_wrong_type_inside_is_not_checked_as_a_whole() -> None:
    assert [path for path, _ in said(provider("mine", baseUrl=5))] == [
        "models.providers.mine.baseUrl"
    ]


def test_retries_must_be_in_order() -> None:
    assert said(defaults(runRetries={"min": 5, "max": 4})) == [
        ("agents.defaults.runRetries.max", "max must be greater than or equal to min")
    ]


def test_a_file_of_another_kind_is_refused_quickly() -> None:
    start = time.process_time()
    assert len(issues({f"some key {i}": i for i in range(20_000)})) == 1
    assert time.process_time() - start < 3


def leaves(node: Node, path: tuple[str, ...] = ()) -> set[str]:
    if isinstance(node, Strict):
        return {leaf for key, child in node.fields.items() for leaf in leaves(child, (*path, key))}
    return {".".join(path)}


def test_every_setting_of_the_policy_is_a_key_of_the_file() -> None:
    agents = OPENCLAW_2026_5_28.schema.fields["agents"]
    assert isinstance(agents, Strict)
    known = leaves(agents.fields["defaults"]) | {"contextWindow", "maxTokens"}
    assert set(BY_KEY) <= known


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["agents", "defaults", "list", "compaction", "memoryFlush", "models", "providers", "x", "id", "mode",
             "reserveTokens", "contextLimits", "tools", "allow", "runRetries", "min", "max", "baseUrl", "1"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=25,
)  # fmt: skip


@given(ANY)
@settings(max_examples=100, deadline=None)
def test_any_value_gives_issues_and_never_an_exception(config: Any) -> None:
    for rules in (OPENCLAW_2026_4_20, OPENCLAW_2026_5_28):
        assert all(issue.message for issue in validate_config(config, rules))
