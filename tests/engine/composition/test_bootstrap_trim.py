"""Workspace files that are too long (spec compaction 5.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.composition.bootstrap_trim import (
    TRIM_2026_3,
    TRIM_2026_4_20,
    TRIM_2026_5_28,
    clamp,
    safe_cut,
    trim_file,
)
from compaction_app.engine.composition.policy_digest import policy_digest

AGENTS = "# Agents\n" + "\n".join(f"- item {i} must be done\nplain {i}" for i in range(200))


def test_a_file_within_the_limit_only_loses_trailing_white_space() -> None:
    found = trim_file("abc \n\n", "SOUL.md", 3, TRIM_2026_5_28)
    assert (found.content, found.truncated, found.original_length) == ("abc", False, 3)


@pytest.mark.parametrize("limit", [64, 120, 300, 2000])
@pytest.mark.parametrize("name", ["SOUL.md", "AGENTS.md"])
def test_head_and_tail_and_marker_stay_within_the_limit(name: str, limit: int) -> None:
    found = trim_file(AGENTS, name, limit, TRIM_2026_5_28)
    assert len(found.content) <= limit
    assert found.content.startswith("#")
    assert "truncated" in found.content


def test_the_marker_names_what_was_kept() -> None:
    found = trim_file("0123456789" * 50, "SOUL.md", 200, TRIM_2026_5_28)
    assert "…(truncated SOUL.md: kept 75+25 chars of 500)…" in found.content
    small = trim_file("0123456789" * 50, "SOUL.md", 64, TRIM_2026_5_28)
    assert "[…truncated 31+10/500]" in small.content


def test_in_the_first_version_the_marker_comes_on_top() -> None:
    assert len(trim_file("x" * 500, "SOUL.md", 64, TRIM_2026_3).content) > 64


def test_only_the_newest_version_keeps_the_rules_of_a_shortened_agents_file() -> None:
    assert (
        "[Policy digest from AGENTS.md]"
        in trim_file(AGENTS, "agents.MD", 2000, TRIM_2026_5_28).content
    )
    assert "Policy digest" not in trim_file(AGENTS, "AGENTS.md", 2000, TRIM_2026_4_20).content


def test_urgent_lines_come_first_and_all_keep_their_order() -> None:
    text = "# Head\nplain\n- bullet\nYou must not\nNEVER x"
    assert policy_digest(text, 1000).text == "# Head\n- bullet\nYou must not\nNEVER x"
    small = policy_digest(text, 30)
    assert (small.text, small.omitted_lines) == ("# Head\nYou must not\nNEVER x", 1)
    assert policy_digest(text, 0).omitted_lines == 0


@given(st.text(max_size=400), st.sampled_from(["A.md", "AGENTS.md"]), st.integers(1, 300))
def test_no_file_ever_exceeds_its_limit_and_no_pair_is_split_at_its_end(
    content: str, name: str, limit: int
) -> None:
    found = trim_file(content + "x" * 300, name, limit, TRIM_2026_5_28).content
    assert len(found.encode("utf-16-le", "surrogatepass")) <= 2 * limit


def test_a_clamped_text_ends_with_an_ellipsis_and_whole_characters() -> None:
    assert [clamp("hello", budget) for budget in (5, 4, 3, 0)] == ["hello", "hel…", "hel", ""]
    assert safe_cut("a😀", 2) == "a"
    assert clamp("aa😀😀", 4) == "aa…"
