"""The replay on arrays, held equal to turns on real messages: every decision, every token."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.circumstances import PATHS, Path
from compaction_app.engine.policy import SETTINGS
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28, RULE_SETS, RuleSet
from compaction_app.engine.simulation.driver import Answers, simulate
from compaction_app.engine.simulation.inputs import (
    Asked,
    SessionFiles,
    SimulationInputs,
    simulation_inputs,
    what_if,
)
from compaction_app.engine.simulation.report import what_if_report
from compaction_app.engine.simulation.usage import ByDensity
from compaction_app.engine.tape.leap import Leap
from compaction_app.engine.tape.leap_calls import LeaptCalls
from compaction_app.engine.tape.recorded import recorded_rows
from compaction_app.engine.tape.row import RowMaker
from compaction_app.engine.tape.script import script_of
from compaction_app.engine.tape.session import replay_session
from compaction_app.engine.tape.unusual import is_known_on_tape, unusual
from compaction_app.engine.tape.what_if import NeedsTexts, tape_report, tape_what_if, taped_turn
from compaction_app.engine.tape.work import ReplayedTurn
from compaction_app.engine.turn.record import StageRecord
from compaction_app.engine.turn.requests import KnownSummary
from compaction_app.session_files import find_sessions
from sessions_app.transcripts.usage import normalize_usage, prompt_tokens
from tests.engine.policies import values
from tests.engine.random_sessions import Writer, files_of, sessions
from tests.golden.runs import LOCAL, OF_2026_5_28, SAMPLES, folder

DATA = FilePath(__file__).parents[1] / "data"
ON_TAPE = [rules for rules in RULE_SETS.values() if is_known_on_tape(rules)]
SUMMARY = KnownSummary("s" * 3_000)


def replayed(
    inputs: SimulationInputs, summaries: Sequence[KnownSummary], *, leaps: bool = False
) -> list[ReplayedTurn | Leap]:
    """The replay of the inputs that a simulation has."""
    setup = inputs.setup
    maker = RowMaker(setup.rules, "prompt_truncation" in setup.order.call)
    rows = recorded_rows(inputs.recording, inputs.envelope, maker)
    assert isinstance(inputs.rule, ByDensity)
    return replay_session(
        setup,
        rows,
        summaries,
        inputs.rule.density,
        header_bytes=inputs.header_bytes,
        own_policy=inputs.own_policy,
        script=script_of(rows, None) if leaps else None,
    )


def differences(files: SessionFiles, asked: Asked) -> list[tuple[int, str, Any, Any]]:
    """Where the two part, turn by turn; nothing where they agree."""
    inputs, again = simulation_inputs(files, asked), simulation_inputs(files, asked)
    summaries = inputs.recording.summaries or [SUMMARY]
    answers = Answers(
        inputs.setup,
        inputs.rule,
        iter(summaries),
        iter(inputs.recording.flushes),
        inputs.own_policy,
    )
    slow = simulate(inputs.recording, answers, inputs.envelope, inputs.header_bytes)
    fast = [turn for turn in replayed(again, summaries) if isinstance(turn, ReplayedTurn)]
    rules = inputs.setup.rules.usage
    found: list[tuple[int, str, Any, Any]] = []
    for one, other in zip(slow, fast, strict=True):
        turn, made = one.recorded.number, one.result
        calls = [
            (c.run, c.number, prompt_tokens(normalize_usage((c.answer or {}).get("usage"), rules)))
            for c in made.calls
        ]
        others = [call[:3] for call in _sent([other])]
        pairs = {
            "stages": (list(made.stages), list(other.stages)),
            "calls": (calls, others),
            "events": (list(made.events), list(other.events)),
            "end": ([made.outcome, made.reply], [other.outcome, other.reply]),
        }
        for name, (left, right) in pairs.items():
            parted = [(a, b) for a, b in zip(left, right, strict=False) if a != b]
            if left != right:
                found.append((turn, name, *(parted[0] if parted else (len(left), len(right)))))
    return found


def partings(files: SessionFiles, asked: Asked) -> list[tuple[int, str, Any, Any]]:
    """Where a replay in leaps parts from one turn by turn."""
    inputs, again = simulation_inputs(files, asked), simulation_inputs(files, asked)
    summaries = inputs.recording.summaries or [SUMMARY]
    whole = [t for t in replayed(inputs, summaries) if isinstance(t, ReplayedTurn)]
    found: list[tuple[int, str, Any, Any]] = []
    number = 0
    for part in replayed(again, summaries, leaps=True):
        if isinstance(part, ReplayedTurn):
            turns, quiet = [whole[number]], part.events
            pairs: list[tuple[str, Any, Any]] = [
                ("stages", _kept(whole[number], part), part.stages),
                ("events", whole[number].events, part.events),
                ("calls", _sent([whole[number]]), _sent([part])),
                ("end", whole[number].outcome, part.outcome),
            ]
        else:
            turns = whole[part.first : part.end]
            quiet = tuple(event for turn in turns for event in turn.events)
            sent = list(zip(part.prompt.tolist(), part.tokens.tolist(), strict=True))
            pairs = [
                ("events", quiet, ()),
                ("calls", [call[2:] for call in _sent(turns)], sent),
                ("end", {turn.outcome for turn in turns}, {"answered"}),
            ]
        found += [(number, name, a, b) for name, a, b in pairs if a != b]
        number += len(turns)
    assert number == len(whole)
    return found


def _sent(turns: Sequence[ReplayedTurn]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for call in (call for turn in turns for call in turn.calls):
        if isinstance(call, LeaptCalls):
            both = zip(call.prompt.tolist(), call.tokens.tolist(), strict=True)
            found += [("turn", call.number + n, *one) for n, one in enumerate(both)]
        else:
            billed = prompt_tokens(call.answer.usage) if call.answer else None
            found.append((call.run, call.number, billed, call.tokens))
    return found


def _kept(whole: ReplayedTurn, part: ReplayedTurn) -> tuple[StageRecord, ...]:
    """The stages but for those of calls that were leapt over, none of which may have fired."""
    leapt = {
        call.number + n
        for call in part.calls
        if isinstance(call, LeaptCalls)
        for n in range(len(call.prompt))
    }
    gone = [s for s in whole.stages if s.call in leapt and s.stage in CALL_STAGES]
    assert not any(stage.decision.fired for stage in gone)
    return tuple(stage for stage in whole.stages if stage not in gone)


CALL_STAGES = ("cache_ttl_pruning", "soft_guard")
PRUNING = {"contextPruning.mode": "cache-ttl", "contextPruning.ttl": "1s"}


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """A window of any size, and a few settings at other values."""
    chosen = draw(st.lists(st.sampled_from(SETTINGS), unique_by=lambda s: s.key, max_size=6))
    changes = {s.key: draw(values(s)) for s in chosen}
    if draw(st.booleans()):
        changes |= PRUNING | {"contextPruning.softTrimRatio": 0.05, "contextPruning.hardClearRatio": 0.1, "contextPruning.minPrunableToolChars": 0}  # fmt: skip
    window = draw(st.integers(4_000, 40_000) | st.integers(40_000, 250_000))
    keep = draw(st.sampled_from([200, 2_000, 8_000, 20_000]))
    floor = draw(st.sampled_from([0, 1_000, 20_000]))
    return {"contextWindow": window, "compaction.keepRecentTokens": keep, "compaction.reserveTokensFloor": floor, **changes}  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(sessions(), changed(), st.sampled_from(ON_TAPE), st.sampled_from(PATHS))
def test_any_session_under_any_policy(
    files: SessionFiles, changes: dict[str, Any], rules: RuleSet, path: Path
) -> None:
    assert differences(files, Asked(rules, path, changes)) == []


@settings(max_examples=40, deadline=None)
@given(
    sessions(calm=True),
    changed(),
    st.sampled_from(ON_TAPE),
    st.sampled_from(PATHS),
)
def test_both_give_the_same_report(
    files: SessionFiles, changes: dict[str, Any], rules: RuleSet, path: Path
) -> None:
    inputs = simulation_inputs(files, Asked(rules, path, changes))
    try:
        fast = tape_report(inputs, tape_what_if(inputs))
    except NeedsTexts as error:
        assert not inputs.recording.summaries, error
        return
    assert fast == what_if_report(inputs, what_if(inputs))


@settings(max_examples=40, deadline=None)
@given(sessions(calm=True), changed(), st.integers(1, 40))
def test_a_turn_that_is_asked_for_tells_every_stage(
    files: SessionFiles, changes: dict[str, Any], number: int
) -> None:
    inputs = simulation_inputs(files, Asked(OPENCLAW_2026_5_28, changes=changes))
    number = min(number, len(inputs.recording.turns))
    try:
        told = taped_turn(inputs, number)
    except (NeedsTexts, IndexError):
        assert not inputs.recording.summaries
        return
    made = next(turn.result for turn in what_if(inputs) if turn.recorded.number == number)
    assert (told.stages, told.events) == (made.stages, made.events)
    assert [call.number for call in told.calls] == [call.number for call in made.calls]


@settings(max_examples=60, deadline=None)
@given(
    sessions(calm=True),
    changed(),
    st.sampled_from(ON_TAPE),
    st.sampled_from(PATHS),
)
def test_quiet_turns_are_leapt_over_without_a_difference(
    files: SessionFiles, changes: dict[str, Any], rules: RuleSet, path: Path
) -> None:
    assert partings(files, Asked(rules, path, changes)) == []


@pytest.mark.parametrize("rules", ON_TAPE, ids=[rules.id for rules in ON_TAPE])
def test_recorded_runs(rules: RuleSet) -> None:
    for name in OF_2026_5_28:
        for files in find_sessions([folder(name)]):
            asked = Asked(rules, path="local" if name in LOCAL else None)
            assert differences(files, asked) == [], name


REAL = [
    SAMPLES / "openclaw-1-large-tool-results.jsonl",
    SAMPLES / "pi-v3-1-two-compactions.jsonl",
    *sorted((DATA / "transcripts").rglob("*.jsonl")),
]


@pytest.mark.parametrize("file", REAL, ids=lambda file: file.name)
def test_real_transcripts(file: FilePath) -> None:
    for files in find_sessions([file]):
        asked = Asked(OPENCLAW_2026_5_28, changes={"contextWindow": 20_000, **PRUNING})
        assert differences(files, asked) == []


def test_every_real_transcript_is_one_that_a_tape_replays() -> None:
    for file in REAL:
        for files in find_sessions([file]):
            inputs = simulation_inputs(files, Asked(OPENCLAW_2026_5_28))
            assert unusual(inputs.recording, inputs.setup.rules) is None, file.name


def _told(*results: dict[str, Any]) -> str | None:
    writer = Writer(1.0, True)
    writer.message("user", "go")
    blocks = [{"type": "toolCall", "id": i, "name": "exec", "arguments": {}} for i in ("a", "b")]
    writer.answer(blocks, "toolUse", 5)
    for result in results:
        message = {"content": [{"type": "text", "text": "r"}], "toolName": "exec", **result}
        writer.message(message.pop("role", "toolResult"), message.pop("content"), **message)
    inputs = simulation_inputs(files_of(writer.entries, {}), Asked(OPENCLAW_2026_5_28))
    return unusual(inputs.recording, inputs.setup.rules)


def test_recordings_that_need_their_texts_are_told_apart() -> None:
    first, second = {"toolCallId": "a"}, {"toolCallId": "b"}
    assert _told(first, second) is None
    assert _told(first) is None
    assert _told(second, first) == "results in another order than their calls"
    assert _told(first, {}) == "a result without its call's id or its tool's name"
    assert (
        _told({**first, "toolName": " exec "})
        == "a result without its call's id or its tool's name"
    )
