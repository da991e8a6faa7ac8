"""The refresh after a compaction and the sections of AGENTS.md (spec compaction 4)."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.compaction.agents_sections import (
    SECTIONS_2026_3,
    SECTIONS_2026_4_20,
    extract_sections,
    matches_section_set,
)
from compaction_app.engine.compaction.post_context import (
    POST_CONTEXT_2026_3,
    POST_CONTEXT_2026_4_20,
    POST_CONTEXT_2026_5_28,
    PostContext,
    PostContextRules,
    post_compaction_context,
)
from compaction_app.engine.compaction.workspace_rules import workspace_rules_section

NOW_MS = 1_780_000_000_000
AGENTS = "## Session Startup\nread memory/YYYY-MM-DD.md\n## Red Lines\nnever\n## Build\nmake\n"


def refresh(
    sections: Any,
    rules: PostContextRules = POST_CONTEXT_2026_5_28,
    agents: str | None = AGENTS,
    **d: Any,
) -> PostContext:
    compaction = {} if sections is None else {"postCompactionSections": sections}
    config = {"agents": {"defaults": {"compaction": compaction, "timeFormat": "24", **d}}}
    return post_compaction_context(agents, config, NOW_MS, rules, SECTIONS_2026_4_20)


def test_the_sections_are_injected_with_the_date_of_the_user() -> None:
    found = refresh(["Session Startup", "Red Lines"], userTimezone="Asia/Shanghai")
    assert found.reason == "injected"
    assert found.text is not None
    assert "read memory/2026-05-29.md\n\n## Red Lines\nnever" in found.text
    assert found.text.endswith(
        "Current time: Friday, May 29th, 2026 - 04:26 (Asia/Shanghai)\n"
        "Reference UTC: 2026-05-28 20:26 UTC"
    )


@pytest.mark.parametrize(
    ("rules", "injected"),
    [
        (POST_CONTEXT_2026_3, True),
        (POST_CONTEXT_2026_4_20, True),
        (POST_CONTEXT_2026_5_28, False),
    ],
)
def test_the_version_decides_whether_sections_are_injected_unasked(
    rules: PostContextRules, injected: bool
) -> None:
    assert (refresh(None, rules).text is not None) is injected
    assert refresh([], rules).reason == "not_configured"


def test_the_reason_says_why_there_is_nothing() -> None:
    assert refresh(["Build"], agents=None).reason == "no_agents_file"
    assert refresh(["Nope"]).reason == "sections_not_found"


def test_own_sections_are_named_in_the_text() -> None:
    found = refresh(["Nope", "Build"])
    assert found.sections == ("Build",)
    assert found.text is not None and "Injected sections from AGENTS.md (Build):" in found.text


def test_old_names_are_looked_for_only_where_the_default_ones_are_meant() -> None:
    old = "## Every Session\nread\n## Safety\nno\n"
    assert refresh(["red lines", "Session Startup"], agents=old).sections == (
        "Every Session",
        "Safety",
    )
    assert refresh(["Red Lines"], agents=old).text is None


def test_the_limit_may_be_configured_since_the_second_version() -> None:
    long = "## Build\n" + "x" * 5000
    limits = {"contextLimits": {"postCompactionMaxChars": 50}}
    for rules, length in ((POST_CONTEXT_2026_3, 3000), (POST_CONTEXT_2026_5_28, 50)):
        text = refresh(["Build"], rules, long, **limits).text
        assert text is not None and f"\n{'x' * (length - 9)}\n...[truncated]..." in text


def test_a_time_zone_nobody_knows_gives_the_system_s() -> None:
    text = refresh(["Build"], userTimezone="Not/AZone", timeFormat="12").text
    assert text is not None and "Thursday, May 28th, 2026 - 8:26 PM (UTC)" in text


def test_a_section_ends_at_a_heading_of_its_level_but_not_inside_a_fence() -> None:
    content = "```\n## A\n```\n## A\nx\n```\n## B\n```\n### C\n# D\n## E\ny"
    found = extract_sections(content, ["a", "C", "zz"], SECTIONS_2026_4_20)
    assert found.names == ("a", "C")
    assert found.sections == ("## A\nx\n```\n## B\n```\n### C\n# D", "### C\n# D")


def test_only_the_first_version_takes_spaces_of_a_name_for_part_of_it() -> None:
    assert extract_sections("## A\n", [" a "], SECTIONS_2026_3).names == ()
    assert extract_sections("## A\n", [" a "], SECTIONS_2026_4_20).names == (" a ",)


def test_a_section_set_is_compared_with_its_repetitions() -> None:
    assert matches_section_set(["B", " a"], ["A", "b"])
    assert not matches_section_set(["a", "a"], ["a", "b"])


def test_workspace_rules_are_cut_to_2000_characters() -> None:
    section = workspace_rules_section("## B\n" + "y" * 3000, ["B"], SECTIONS_2026_4_20)
    assert section.endswith("y\n...[truncated]...\n</workspace-critical-rules>")
    assert section.count("y") == 1995
    assert workspace_rules_section(None, ["B"], SECTIONS_2026_4_20) == ""
