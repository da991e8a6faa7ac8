"""Order, boundary, skills and reports of a prompt (spec compaction 5.5 to 5.7)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.composition.cache_boundary import (
    CACHE_BOUNDARY,
    split_at_boundary,
    with_addition,
    without_boundary,
)
from compaction_app.engine.composition.context_reply import (
    cached_total,
    context_mode,
    context_reply,
)
from compaction_app.engine.composition.project_context import (
    DEFAULT_HEARTBEAT_PROMPT,
    order_context_files,
    prompt_content,
)
from compaction_app.engine.composition.prompt_outline import PromptParts, prompt_outline
from compaction_app.engine.composition.prompt_report import (
    ReportedRun,
    project_context_chars,
    prompt_report,
)
from compaction_app.engine.composition.skills import (
    Skill,
    home_relative,
    select_skills,
    skills_chars,
    skills_note,
)


def test_files_stand_in_the_order_of_the_prompt_and_the_heartbeat_below_the_boundary() -> None:
    found = order_context_files(["/w/zeta.md", "/w/HEARTBEAT.md", "/w/TOOLS.md", "/w/AGENTS.md"])
    assert found.stable == ("/w/AGENTS.md", "/w/TOOLS.md", "/w/zeta.md")
    assert found.dynamic == ("/w/HEARTBEAT.md",)


def test_an_addition_stands_right_behind_the_boundary() -> None:
    prompt = f"A {CACHE_BOUNDARY} B"
    assert with_addition(prompt, " new  \r\nline ") == f"A{CACHE_BOUNDARY}new\nline\n\nB"
    assert with_addition("A", "new") == "new\n\nA"
    assert with_addition(prompt, " ") == prompt
    assert split_at_boundary("A") is None
    assert without_boundary(f"A{CACHE_BOUNDARY}B") == "A\nB"


def skills(count: int, description: str = "d" * 100) -> list[Skill]:
    return [Skill(f"s{i}", description, f"/s/{i}/SKILL.md") for i in range(count)]


def limited(chars: int) -> dict[str, Any]:
    return {"skills": {"limits": {"maxSkillsPromptChars": chars}}}


@pytest.mark.parametrize(
    ("count", "outcome"), [(10, "full"), (100, "compact"), (151, "truncated"), (0, "full")]
)
def test_skills_lose_their_descriptions_before_any_is_left_out(count: int, outcome: str) -> None:
    assert select_skills(skills(count), {}, None, "r").decision.outcome == outcome


def test_the_note_says_how_many_skills_are_listed() -> None:
    found = select_skills(skills(50), limited(3000), None, "r")
    assert skills_note(found, 50).startswith(
        f"⚠️ Skills truncated: included {len(found.skills)} of 50 (compact"
    )
    assert skills_note(select_skills(skills(1), {}, None, "r"), 1) == ""


@given(st.integers(0, 60), st.integers(0, 9000))
def test_the_longest_list_that_fits_is_chosen(count: int, limit: int) -> None:
    found = select_skills(skills(count), limited(limit), None, "r")
    if found.compact:
        kept = len(found.skills)
        assert skills_chars(found.skills, compact=True) <= max(0, limit - 150)
        more = skills_chars(skills(count)[: kept + 1], compact=True)
        assert kept == count or more > limit - 150


def test_a_home_folder_is_written_short() -> None:
    assert home_relative("/home/u/x", ["/home/u"]) == "~/x"
    assert home_relative("/home/user/x", ["/home/u"]) == "/home/user/x"


def test_a_subagent_s_prompt_has_fewer_sections() -> None:
    full = prompt_outline(PromptParts(context_paths=("/w/HEARTBEAT.md",), has_heartbeat=True))
    minimal = prompt_outline(PromptParts(mode="minimal", has_extra_prompt=True, has_heartbeat=True))
    assert full.below == (
        "# Project Context",
        "## /w/HEARTBEAT.md",
        "## Messaging",
        "## Heartbeats",
        "## Runtime",
    )
    assert minimal.below == ("## Subagent Context", "## Runtime")
    assert "## Documentation" not in minimal.above
    assert prompt_outline(PromptParts(mode="none")).above == ()


def report() -> dict[str, Any]:
    tools = [
        {"name": "read", "description": " Read ", "parameters": {"properties": {"p": {}}}},
        {"name": "x", "label": "L"},
    ]
    prompt = "intro\n# Project Context\nabc\n## Silent Replies\nrest"
    skill = "<skill><name> s </name></skill>"
    return prompt_report(ReportedRun(workspace_dir="/w"), prompt, skill, (), tools)


def test_a_report_measures_each_part() -> None:
    found = report()
    assert found["systemPrompt"]["projectContextChars"] == len("\n# Project Context\nabc")
    assert found["skills"]["entries"] == [{"name": "s", "blockChars": 31}]
    assert [tool["propertiesCount"] for tool in found["tools"]["entries"]] == [1, None]
    assert found["tools"]["listChars"] == 0
    assert project_context_chars("nothing") == 0


@pytest.mark.parametrize(
    ("command", "mode"),
    [
        ("/context", "help"),
        ("/context SHOW x", "list"),
        ("/context deep", "detail"),
        ("/context a", "unknown"),
    ],
)
def test_the_first_word_is_the_mode(command: str, mode: str) -> None:
    assert context_mode(command) == mode


def test_a_breakdown_says_unknown_where_the_total_is_out_of_date() -> None:
    stale = {"systemPromptReport": report(), "totalTokens": 5, "totalTokensFresh": False}
    assert cached_total(stale) is None
    assert "Session tokens (cached): unknown / ctx=32,000" in context_reply(
        "/context list", stale, 32_000
    )
    fresh = {**stale, "totalTokensFresh": True, "totalTokens": 5000}
    assert "Actual context usage (cached): 5,000 tok" in context_reply(
        "/context detail", fresh, None
    )
    with pytest.raises(LookupError):
        context_reply("/context list", {}, None)


def test_the_quoted_default_heartbeat_prompt_and_spare_lines_do_not_reach_the_prompt() -> None:
    block = f"Default heartbeat prompt:\n`{DEFAULT_HEARTBEAT_PROMPT}`"
    assert prompt_content(f"before\n\n{block}\n\nafter\n\n\n\nend") == "before\n\nafter\n\nend"
    changed = block.replace("strictly", "loosely")
    assert prompt_content(changed) == changed
