"""What settings, provider, model and version the files of a session come to."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.engine.session_policy import (
    agent_of_key,
    rule_set_of,
    session_policy,
    under_rules,
)

LISTED: dict[str, Any] = {
    "models": {"providers": {"p": {"models": [{"id": "m", "contextWindow": 96_000}]}}}
}


def test_the_transcript_names_the_model_before_the_index_and_the_configuration() -> None:
    entry = {"modelProvider": "index", "model": "of-index"}
    config = LISTED | {"agents": {"defaults": {"model": {"primary": "file/of-file"}}}}

    def named(*args: Any) -> tuple[str, str]:
        around = session_policy(*args).around
        return around.provider, around.model

    assert named(config, entry, "own", "of-own") == ("own", "of-own")
    assert named(config, entry) == ("index", "of-index")
    assert named(config, {}) == ("file", "of-file")
    assert named(LISTED, {}) == ("p", "m")
    assert named({}, {}) == ("", "")


@pytest.mark.parametrize("model", ["p/m", {"primary": "p/m"}, "m"])
def test_a_configured_model_may_be_a_text_or_an_object(model: Any) -> None:
    config = LISTED | {"agents": {"defaults": {"model": model}}}
    assert session_policy(config, {}).policy.context_window == 96_000


def test_the_index_gives_the_window_only_where_the_file_does_not() -> None:
    entry = {"contextTokens": 48_000}
    assert session_policy({}, entry).policy.context_window == 48_000
    assert session_policy(LISTED, entry).policy.context_window == 96_000


@pytest.mark.parametrize(
    ("version", "rules"),
    [
        ("2026.1.5", "openclaw-2026.3"),
        ("2026.3.13", "openclaw-2026.3"),
        ("2026.4.19", "openclaw-2026.3"),
        ("2026.4.20", "openclaw-2026.4.20"),
        ("2026.5.27-beta.1", "openclaw-2026.4.20"),
        ("2026.9.5", "openclaw-2026.5.28"),
        ("2026.9.6", "openclaw-2026.9"),
        ("2027.1.1", "openclaw-2026.9"),
        (None, "openclaw-2026.5.28"),
        ("soon", "openclaw-2026.5.28"),
        (7, "openclaw-2026.5.28"),
    ],
)
def test_the_version_that_wrote_the_file_chooses_the_rules(version: Any, rules: str) -> None:
    assert rule_set_of({"meta": {"lastTouchedVersion": version}}).id == rules


@pytest.mark.parametrize(
    ("file", "store", "header", "rules"),
    [
        ("2026.5.28", "2026.9.6", 4, "openclaw-2026.9"),
        ("2026.9.6", "2026.7.1", 4, "openclaw-2026.5.28"),
        ("2026.5.28", "", 4, "openclaw-2026.9"),
        ("2026.9.6", "", 3, "openclaw-2026.9"),
        ("2026.4.20", "", 3, "openclaw-2026.4.20"),
        (None, "", 4, "openclaw-2026.9"),
        (None, "", 3, "openclaw-2026.5.28"),
        (None, "", None, "openclaw-2026.5.28"),
    ],
)
def test_store_and_transcript_say_the_version_before_the_file(
    file: str | None, store: str, header: int | None, rules: str
) -> None:
    assert rule_set_of({"meta": {"lastTouchedVersion": file}}, store, header).id == rules


def test_a_mode_that_nobody_chose_is_that_of_the_version() -> None:
    old, new = RULE_SETS["openclaw-2026.5.28"], RULE_SETS["openclaw-2026.9"]
    around = Circumstances(rules=old)
    newer = under_rules(Policy(), around, new)
    assert newer.compaction_mode == "safeguard"
    assert under_rules(newer, Circumstances(rules=new), old) == Policy()
    chosen = {"agents": {"defaults": {"compaction": {"mode": "default"}}}}
    assert under_rules(Policy(), Circumstances(rules=old, config=chosen), new) == Policy()


AGENTS: dict[str, Any] = {
    "agents": {
        "defaults": {
            "model": "acme/small",
            "contextLimits": {"toolResultMaxChars": 5_000, "postCompactionMaxChars": 900},
        },
        "list": [
            {"id": "main"},
            {
                "id": "Ops",
                "model": {"primary": "acme/large"},
                "contextTokens": 9_000,
                "contextLimits": {"toolResultMaxChars": 7_000},
            },
        ],
    }
}


def test_what_an_agent_sets_for_itself_comes_before_the_defaults_of_all() -> None:
    own = session_policy(AGENTS, {}, agent="ops")
    assert (own.around.model, own.policy.tool_result_max_chars) == ("large", 7_000)
    assert own.policy.post_compaction_max_chars == 900
    assert own.policy.context_tokens is None, "no rule of a run reads an agent's window"


@pytest.mark.parametrize("agent", ["main", "nobody", ""])
def test_an_agent_without_settings_has_the_defaults_of_all(agent: str) -> None:
    found = session_policy(AGENTS, {}, agent=agent)
    assert (found.around.model, found.policy.tool_result_max_chars) == ("small", 5_000)
    assert found.around.config is AGENTS


@pytest.mark.parametrize(
    ("key", "agent"), [("agent:ops:main", "ops"), ("agent:ops", ""), ("cron:1:x", ""), ("", "")]
)
def test_the_key_of_a_session_names_its_agent(key: str, agent: str) -> None:
    assert agent_of_key(key) == agent
