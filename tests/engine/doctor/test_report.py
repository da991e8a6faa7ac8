"""What the doctor says of one agent's settings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from compaction_app.engine.config.syntax import parse_config
from compaction_app.engine.config.validate import validate_config
from compaction_app.engine.doctor.corrections import place_of_path
from compaction_app.engine.doctor.report import agent_report, agents_of, read_configuration
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, OPENCLAW_2026_3, RULE_SETS
from tests.engine.doctor.configs import HEALTHY, ILL, codes, read, report


def test_the_three_chains_say_who_decided_and_why() -> None:
    flush, run, reply = report(ILL).examination.chains
    assert (flush.resolution.tokens, flush.why) == (
        128_000,
        "agents.defaults.contextTokens decides: it is asked first.",
    )
    assert run.why == "the model's own entry below models.providers decides: it is asked first."
    assert reply.resolution.tokens == 96_000
    assert [step.verdict for step in reply.resolution.trace][-1] == "does_not_cap"


def test_a_cap_and_a_default_are_told_as_such() -> None:
    capped = ILL.replace("128000", "64000")
    assert report(capped).examination.chains[1].why == (
        "agents.defaults.contextTokens is lower than the 96,000 before it, and caps it."
    )
    assert "the default is assumed" in report("{agents: {}}").examination.chains[1].why


def test_the_timing_is_answered_with_the_numbers() -> None:
    well = report(HEALTHY).examination.timing
    assert (well.answer, well.flush.tokens) == ("yes", 176_000)
    assert [(gap.trigger.tokens, gap.gap) for gap in well.gaps] == [(180_000, 4_000)] * 2
    assert "176,000 billed tokens, 4,000 below the first" in well.words
    assert "asked before it" in well.words
    ill = report(ILL).examination.timing
    assert (ill.answer, ill.gaps[0].gap) == ("no", 33_500 - 104_000)
    off = report("{agents: {defaults: {compaction: {memoryFlush: {enabled: false}}}}}")
    assert off.examination.timing.answer == "never"


def test_small_windows_are_protected_by_versions_that_do_it() -> None:
    small = HEALTHY.replace("200000", "16000")
    assert report(small).examination.protection.is_active
    assert "20,000 tokens is lowered to 8,000" in report(small).examination.protection.words
    assert not report(HEALTHY).examination.protection.is_active
    assert not report(small, rules=OPENCLAW_2026_3).examination.protection.is_active


def test_pruning_says_why_it_does_not_run() -> None:
    assert report(HEALTHY).examination.pruning.words == "Not active: contextPruning.mode is off."
    on = "{agents: {defaults: {model: 'anthropic/claude-x', contextPruning: {mode: 'cache-ttl'}}}}"
    assert report(on).examination.pruning.is_active
    assert "acme" in report(on.replace("anthropic/claude-x", "acme/m")).examination.pruning.words


def test_includes_and_variables_are_told_and_are_no_faults() -> None:
    text = "{$include: './models.json5', env: {K: '${API_KEY}'}, agents: {list: [{$include: 'a'}]}}"
    assert codes(read(text).findings) == ["CONFIG_INCLUDE", "CONFIG_INCLUDE", "CONFIG_ENV"]
    assert "./models.json5" in read(text).findings[0].consequence
    assert read("{env: {K: '$${NOT_ONE}'}}").findings == ()


def test_the_corrected_file_is_a_small_patch_that_keeps_its_comments() -> None:
    corrected = report(ILL).corrected
    assert [change.key for change in corrected.changes] == [
        "compaction.reserveTokens",
        "agents.defaults.compaction.keep_recent_tokens",
        "agents.defaults.compaction.enabled",
        "contextTokens",
        "compaction.memoryFlush.softThresholdTokens",
        "contextPruning.ttl",
    ]
    assert "// my agent" in corrected.text and "// the cap" in corrected.text
    assert parse_config(corrected.text)["agents"] == {
        "defaults": {
            "compaction": {
                "reserveTokens": 24_000,
                "keepRecentTokens": 5_000,
                "memoryFlush": {"softThresholdTokens": 11_200},
            },
            "contextPruning": {"ttl": "5m"},
        },
        "list": [{"id": "main"}, {"id": "ops", "contextLimits": {"toolResultMaxChars": 9_000}}],
    }
    assert codes(corrected.left) == ["PRUNE_INELIGIBLE"]


def test_a_healthy_file_needs_no_correction() -> None:
    found = report(HEALTHY)
    assert (found.findings, found.corrected.changes, found.corrected.text) == ((), (), "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{agents: {defaults: {compaction: {mode: 'defalt'}}}}", {}),
        ("{agents: {defaults: {compaction: {notifyUser: 'true'}}}}", {"notifyUser": True}),
        ("{agents: {defaults: {reserveTokensFloor: 21000, compaction: {}}}}", {"reserveTokensFloor": 21000}),
        ("{agents: {defaults: {compaction: {customInstructions: null}}}}", {}),
    ],
)  # fmt: skip
def test_a_file_that_the_runtime_refuses_is_mended(before: str, after: dict[str, object]) -> None:
    text = report(before).corrected.text
    config = parse_config(text)
    assert validate_config(config, DEFAULT_RULE_SET.config) == []
    assert {k: config["agents"]["defaults"]["compaction"].get(k) for k in after} == after


def test_a_file_that_cannot_be_read_has_a_finding_and_no_correction() -> None:
    found = report("{ agents: ")
    assert codes(found.findings)[0] == "CONFIG_INVALID"
    assert found.corrected.text == ""


def test_the_default_agent_comes_first() -> None:
    assert agents_of({"agents": {"list": [{"id": "a"}, {"id": "b", "default": True}, 5]}}) == [
        "b",
        "a",
    ]
    assert agents_of({}) == ["main"]


def test_a_path_with_dots_in_its_keys_is_found() -> None:
    config = {"models": {"providers": {"z.ai": {"models": [{"id": "m"}]}}}}
    path = "models.providers.z.ai.models.0.id"
    assert place_of_path(config, path) == ("models", "providers", "z.ai", "models", 0, "id")
    assert place_of_path(config, "models.nothing") is None


def test_rule_sets_side_by_side_explain_every_difference() -> None:
    compared = report(ILL).comparison
    assert compared.rule_sets == tuple(RULE_SETS)
    rows = {row.title: row for row in compared.rows}
    assert rows["flush line"].values[0] == "72,000 billed prompt tokens"
    assert "2026.3: this version has no preflight" in rows["preflight line"].why
    assert all(row.why for row in compared.differences)
    assert not any(row.why for row in compared.rows if not row.differs)


KEYS = st.sampled_from(
    [
        "reserveTokens",
        "reserveTokensFloor",
        "keepRecentTokens",
        "mode",
        "memoryFlush",
        "enabled",
        "x",
    ]
)
VALUES = st.one_of(
    st.integers(-5, 300_000), st.sampled_from([None, "20000", "safeguard", True, {}, []])
)


@hypothesis_settings(max_examples=40)
@given(st.dictionaries(KEYS, VALUES, max_size=5), st.integers(5_000, 1_000_000))
def test_a_correction_never_makes_a_file_worse(compaction: dict[str, object], window: int) -> None:
    listed = {"id": "m", "name": "m", "contextWindow": window}
    config = {
        "models": {"providers": {"acme": {"baseUrl": "x", "models": [listed]}}},
        "agents": {"defaults": {"compaction": compaction}},
    }
    given_text = str(config).replace("None", "null").replace("True", "true")
    found = report(given_text)
    if found.corrected.text:
        mended = report(found.corrected.text)
        faults = [c for c in codes(mended.findings) if c.startswith("CONFIG")]
        assert faults == []
        assert report(found.corrected.text).corrected.text in ("", found.corrected.text)


def test_a_report_without_a_configuration_judges_no_settings() -> None:
    found = agent_report(read(""), "main", DEFAULT_RULE_SET)
    assert (found.findings, found.corrected.changes) == ((), ())


def test_a_file_that_cannot_be_read_is_not_answered_for() -> None:
    rules = DEFAULT_RULE_SET
    for text in ("{agents: {", "[1, 2]"):
        assert agent_report(read_configuration(text, rules), "main", rules).notice
    for text in ("", "{}", "{agents: {defualts: {}}}"):
        assert not agent_report(read_configuration(text, rules), "main", rules).notice
