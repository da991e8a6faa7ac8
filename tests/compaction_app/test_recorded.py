"""What a recording itself says: its compactions, its flushes, its sums."""

from __future__ import annotations

from dataclasses import replace

from compaction_app.differences import differences, tokens_apart
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay import Totals, replay
from compaction_app.recorded import recorded_happenings, recorded_totals, simulated_happenings
from tests.engine.builders import (
    FLUSH_TEXT,
    ROOT,
    Script,
    chat,
    grown_from,
    run_events,
    run_folder,
)


def test_a_recorded_run_tells_the_flushes_and_compactions_of_its_log() -> None:
    for name in ("keep-small-32k", "growth-96k", "flush-never-keep"):
        folder = run_folder(name)
        grown = grown_from(next(folder.glob("*-*-*-*-*.jsonl")).read_bytes())
        told = [(h.turn, h.kind) for h in recorded_happenings(grown)]
        logged = [
            (e["turn"], "flush" if e["kind"] == "flush" else "compaction")
            for e in run_events(name)
            if e["kind"] != "guard"
        ]
        assert sorted(told) == sorted(logged)


def test_figures_of_the_sample_with_two_compactions() -> None:
    sample = ROOT / "sessions_app" / "samples" / "pi-v3-1-two-compactions.jsonl"
    grown = grown_from(sample.read_bytes())
    totals = recorded_totals(grown)
    assert (totals.compactions, totals.flushes, totals.peak) == (2, 0, 185_014)
    last = recorded_happenings(grown)[-1]
    assert last.after == 29_011
    assert last.reason == "recorded" and not last.simulated


def test_a_flush_counts_for_the_next_compaction_only() -> None:
    script = chat(3)
    script.user(FLUSH_TEXT).answer(prompt=5_000).compaction("e2")
    script.user().answer(prompt=4_000).compaction("e9").user().answer(prompt=4_000)
    totals = recorded_totals(script.grown())
    assert (totals.flushes, totals.compactions, totals.flushed_before) == (1, 2, 1)


def test_a_recorded_flush_stands_at_the_call_it_runs_ahead_of_as_a_simulated_one() -> None:
    grown = chat(3).user(FLUSH_TEXT).answer().answer().user().answer().grown()
    (flush,) = recorded_happenings(grown)
    assert (flush.kind, flush.call, flush.turn) == ("flush", 6, 4), "its own are calls 4 and 5"


def test_flush_and_compaction_ahead_of_a_call_stand_in_their_order() -> None:
    script = chat(3).user(FLUSH_TEXT).answer().compaction("e2").user().answer()
    told = [(one.kind, one.call) for one in recorded_happenings(script.grown())]
    assert told == [("flush", 5), ("compaction", 5)]


def test_what_a_figure_counts_is_said() -> None:
    script = chat(3).compaction("e2").user().answer(prompt=700, output=30)
    (recorded,) = recorded_happenings(script.grown())
    assert (recorded.before_measure, recorded.after_measure) == ("stored", "total")
    grown = chat(40).grown()
    policy = replace(Policy(), context_window=32_000, keep_recent_tokens=2_000)
    rows = simulated_happenings(grown, replay(grown, policy, Circumstances()))
    of_kind = {row.kind: (row.before_measure, row.after_measure) for row in rows}
    assert of_kind["preflight_compaction"] == ("prompt", "prompt")
    assert of_kind["flush"] == ("prompt", "")


def test_why_tokens_differ_although_nothing_fires_is_said() -> None:
    script = chat(6)
    script.user(400).answer(400, prompt=2_000).user(400).answer(400)
    grown = script.grown()
    policy = replace(Policy(), context_window=1_000_000)
    now = replay(grown, policy, Circumstances()).totals
    text = tokens_apart(grown, recorded_totals(grown), now)
    assert "the recorded prompt fell 1 time without a compaction" in text
    assert "1 call reported no usage" in text
    whole = chat(6).grown()
    alike = replay(whole, policy, Circumstances()).totals
    assert tokens_apart(whole, recorded_totals(whole), alike) == ""


def test_after_a_compaction_the_next_usage_is_told_as_far_as_there_is_one() -> None:
    script = chat(3).compaction("e2").user().answer()
    script.compaction("e5").user().answer(prompt=700, output=30)
    first, second = recorded_happenings(script.grown())
    assert first.after is None
    assert second.after == 730
    assert first.before == second.before == 9_000


def test_a_session_without_calls_has_happened_nowhere() -> None:
    grown = Script().user().compaction("e0").grown()
    (only,) = recorded_happenings(grown)
    assert (only.call, only.turn, only.after) == (1, 0, None)
    assert recorded_totals(grown).calls == 0


def test_simulated_events_become_rows_with_their_thresholds() -> None:
    grown = chat(40).grown()
    policy = replace(Policy(), context_window=32_000, keep_recent_tokens=2_000)
    done = replay(grown, policy, Circumstances())
    rows = simulated_happenings(grown, done)
    assert [(r.kind, r.turn) for r in rows] == [(e.kind, e.turn) for e in done.events]
    assert all(r.simulated and r.threshold and r.unit for r in rows)
    assert all(1 <= r.call <= grown.calls for r in rows)


def totals(**figures: int) -> Totals:
    names = ("calls", "flushes", "compactions", "flushed_before", "blocked", "tokens_sent", "peak")
    return Totals(**{name: figures.get(name, 0) for name in names})


def test_a_difference_is_told_with_its_trend() -> None:
    now = totals(compactions=4, flushed_before=1, flushes=1, tokens_sent=90_000, blocked=2)
    after = totals(compactions=2, flushed_before=2, flushes=2, tokens_sent=95_000, blocked=2)
    rows = {row.title: row for row in differences(totals(compactions=3), now, after)}
    assert rows["compactions"].recorded == "3"
    assert (rows["compactions"].now, rows["compactions"].what_if) == ("4", "2")
    assert rows["compactions"].trend == "down better"
    assert rows["flushes before compaction"].now == "1 of 4"
    assert rows["flushes before compaction"].trend.strip() == "better"
    assert rows["memory flushes"].trend == "up better"
    assert rows["tokens sent"].trend == "up worse" and rows["tokens sent"].what_if == "95,000"
    assert rows["turns blocked"].trend == ""
