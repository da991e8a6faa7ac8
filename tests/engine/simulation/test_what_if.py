"""A recorded session under another policy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compaction_app.engine.policy import PolicyError
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from compaction_app.engine.simulation.inputs import Asked, simulation_inputs, what_if
from compaction_app.engine.simulation.report import what_if_report
from compaction_app.engine.simulation.usage import Scripted
from compaction_app.session_files import find_sessions
from tests.golden.runs import SAMPLES, folder, replayed

SERVER = Scripted(4, unsent_system_chars=33, tool_chars=2823, flush_tool_chars=1184)


def report(name, rule=None, **changes):
    (files,) = find_sessions([folder(name)])
    asked = Asked(OPENCLAW_2026_5_28, changes={k.replace("__", "."): v for k, v in changes.items()})
    inputs = simulation_inputs(files, asked, rule)
    return what_if_report(inputs, what_if(inputs))


def test_a_larger_window_lets_nothing_fire():
    found = report("growth-32k", contextWindow=200_000)
    assert (found["events"], found["totals"]["blocked"]) == ([], 0)


def test_a_shorter_kept_tail_ends_the_spiral():
    found = report("growth-32k", compaction__keepRecentTokens=2000)
    totals = found["totals"]
    assert totals["blocked"] == 0
    assert 1 <= totals["compactions"] <= 4
    assert totals["turns"] == 36


def test_what_another_run_of_the_same_prompts_did_is_what_the_rules_say_it_would_do():
    """Two runs sent the same 36 prompts, one of them with keepRecentTokens 2000."""
    changed = report("growth-32k", SERVER, compaction__keepRecentTokens=2000)
    first = next(e for e in changed["events"] if e["kind"] == "preflight_compaction")
    recorded = next(
        e for e in replayed("keep-small-32k")[0].report["events"]
        if e["kind"] == "preflight_compaction"
    )  # fmt: skip
    assert (first["turn"], first["tokensBefore"]) == (recorded["turn"], recorded["tokensBefore"])


def test_a_flush_that_is_switched_off_never_runs():
    found = report("keep-small-32k", compaction__memoryFlush__enabled=False)
    assert found["totals"]["flushes"] == 0
    assert found["totals"]["compactions"] >= 2


def test_a_setting_that_does_not_exist_is_refused_by_name():
    with pytest.raises(PolicyError, match="no such setting"):
        report("keep-small-32k", nonsense=1)


def test_without_a_report_the_first_bills_tell_the_size_of_the_system_prompt():
    (files,) = find_sessions([folder("growth-32k")])
    files = replace(
        files, index={k: v for k, v in files.index.items() if k != "systemPromptReport"}
    )
    inputs = simulation_inputs(files, Asked(OPENCLAW_2026_5_28))
    assert 9_447 < inputs.setup.system.chars < 9_447 + 4_000  # tool schemas are billed beside it
    assert any("plus or minus" in note for note in inputs.notes)


def test_without_report_and_usage_it_is_said_that_the_system_prompt_counts_nothing():
    (files,) = find_sessions([SAMPLES / "openclaw-1-large-tool-results.jsonl"])
    inputs = simulation_inputs(files, Asked(OPENCLAW_2026_5_28))
    assert inputs.setup.system.chars == 0
    assert any("no usage" in note for note in inputs.notes)


def test_a_session_that_recorded_no_compaction_is_summarised_by_whoever_is_handed_in():
    (files,) = find_sessions([folder("flush-never-reserve")])
    asked = Asked(
        OPENCLAW_2026_5_28,
        changes={"contextWindow": 40_000, "compaction.keepRecentTokens": 3000},
    )
    calls = []

    def summarise(call):
        calls.append(call)
        return f"Summary {len(calls)}."

    inputs = simulation_inputs(files, asked, summarise=summarise)
    turns = what_if(inputs)
    written = [e for e in turns[-1].result.state.entries if e["type"] == "compaction"]
    assert len(calls) >= len(written) >= 1
    assert written[0]["summary"].startswith("Summary ")
