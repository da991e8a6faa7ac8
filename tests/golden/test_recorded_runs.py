"""The replay of every recorded run reproduces what the real runtime did: events, gates, estimates.

Where a recording says something else than the replay, the difference stands here with its cause;
there is no tolerance.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from compaction_app.engine.turn.record import StageRecord
from tests.golden.runs import LOCAL, NAMES, Run, data, folder, replayed

Event = tuple[int, str, int | None, int | None]
"""Turn, kind, tokens before, tokens after."""

LAG = (
    "The recorder read the store before the turn's counters were written: its figure is that of the "
    "turn before. gates.jsonl, read from the runtime's own log, agrees with the replay."
)
HUNG = (
    "The recorder read the store while the runtime's own compaction hung; the run's usage was never "
    "stored, so that the store has no total then, as the next turn's preflight shows."
)
LATE = (
    "The client was told of the failure before the recovery had ended, and the next message was sent; "
    "the recorder counts what happened then to that message's turn."
)
SENT_EARLY = (
    "The next message was sent while the /compact was still at work; the recorder counts the "
    "compaction, and the next turn's gates judged the state from before it."
)
NOT_STORED = (
    "The local path does not store the prompt of a blocked turn, so that a replay of the transcript has "
    "no such turn."
)
ORIGINAL_GONE = (
    "Within its turn the model saw the results cut otherwise than they were stored; a transcript holds "
    "the stored form alone."
)
NOTHING_CUT = "A log line about no result at all (`Truncated 0 tool result(s)`): the remembered forms were shown."


@dataclass(frozen=True)
class Difference:
    """A recorded event and what the replay has in its place; none for nothing."""

    recorded: Event
    replayed: Event | None
    cause: str


DIFFERENCES: dict[str, tuple[Difference, ...]] = {
    "growth-32k": (Difference((16, "flush", 8160, 7822), (16, "flush", 8160, 8227), LAG),),
    "growth-32k-safeguard": (
        Difference(
            (22, "preflight_compaction", 11160, 11160),
            (22, "preflight_compaction", 11160, 11525),
            LAG,
        ),
        Difference((22, "flush", 11498, 11160), (22, "flush", 11498, 11525), LAG),
    ),
    "growth-96k": (
        Difference((25, "guard", 58616, None), (25, "guard", 61121, None), LAG),
        Difference(
            (25, "overflow_compaction", 58616, 61121),
            (25, "overflow_compaction", 61121, 20396),
            LAG,
        ),
    ),
    "growth-96k-dense": (
        Difference((30, "flush", 74244, 71931), (30, "flush", 74244, None), HUNG),
        Difference(
            (30, "threshold_compaction", 69524, 71931),
            (30, "threshold_compaction", 71931, None),
            f"{LAG} {HUNG}",
        ),
    ),
    "inner-threshold": (
        Difference(
            (30, "threshold_compaction", 69524, 71931),
            (30, "threshold_compaction", 71931, None),
            f"{LAG} {HUNG}",
        ),
    ),
    "manual-compact": (
        Difference(
            (20, "manual_compaction", 11974, 9881), (20, "manual_compaction", 12579, 9881), LAG
        ),
    ),
    "overflow-recover": (
        Difference(
            (32, "overflow_compaction", 18765, 6656), (32, "overflow_compaction", 19771, 6656), LAG
        ),
    ),
    "overflow-summary-500-safeguard": (
        Difference(
            (11, "overflow_compaction", 11339, 8132),
            (10, "overflow_compaction", 11339, 4011),
            LATE,
        ),
    ),
    "safeguard-audit": (
        Difference(
            (14, "manual_compaction", 9955, 7507), (13, "manual_compaction", 9955, 4287), SENT_EARLY
        ),
    ),
    "local-agent": (
        Difference((11, "overflow_compaction", 10074, 10074), None, NOT_STORED),
        Difference((12, "truncate", None, None), None, NOT_STORED),
    ),
    "tool-over-cap-200k": (Difference((4, "truncate", None, 58378), None, ORIGINAL_GONE),),
    "2026.9.6/prune-64k": (
        Difference((9, "truncate", 15794, None), None, NOTHING_CUT),
        Difference((10, "truncate", 15935, None), None, NOTHING_CUT),
    ),
}

TOLD_WHEN_ENDED = {"2026.9.6/growth-32k": (20, 25, 27), "2026.9.6/growth-96k": (28,)}
"""Turns whose flush the recorder tells of when it has ended, behind the check of its own prompt."""


def recorded_events(name: str) -> list[Event]:
    events = _told(name)
    for turn in TOLD_WHEN_ENDED.get(name, ()):
        at = next(n for n, event in enumerate(events) if event[:2] == (turn, "flush"))
        assert events[at - 1][:2] == (turn, "guard")
        events[at - 1 : at + 1] = [events[at], events[at - 1]]
    return events


def _told(name: str) -> list[Event]:
    return [(e["turn"], e["kind"], e["tokensBefore"], e["tokensAfter"]) for e in data(name, "events.json")]  # fmt: skip


def replayed_events(run: Run) -> list[Event]:
    return [(e["turn"], e["kind"], e["tokensBefore"], e["tokensAfter"]) for e in run.report["events"]]  # fmt: skip


def with_differences(name: str, events: list[Event]) -> list[Event]:
    """The recorded events with those that differ replaced; every listed difference must be there."""
    left = list(DIFFERENCES.get(name, ()))
    changed: list[Event] = []
    for event in events:
        known = next((d for d in left if d.recorded == event), None)
        if known is None:
            changed.append(event)
            continue
        left.remove(known)
        if known.replayed is not None:
            changed.append(known.replayed)
    assert not left, f"differences that the recording does not have: {left}"
    return changed


@pytest.mark.parametrize("name", NAMES)
def test_the_replay_reproduces_every_event(name: str) -> None:
    events = [event for run in replayed(name) for event in replayed_events(run)]
    assert events == with_differences(name, recorded_events(name))


def stages(run: Run, *names: str) -> list[tuple[int, StageRecord]]:
    return [
        (turn.recorded.number, stage)
        for turn in run.turns
        for stage in turn.result.stages
        if stage.stage in names
    ]


GATE_DIFFERENCES: dict[str, dict[tuple[int, str], int]] = {
    # SENT_EARLY; the event about the compaction then came a turn later.
    "safeguard-audit": {
        (14, "preflight"): 4287,
        (14, "flush"): 4420,
        (15, "flush"): 7720,
    }
}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LOCAL])
def test_the_replay_judges_the_numbers_that_the_gates_logged(name: str) -> None:
    main = max(replayed(name), key=lambda run: len(run.turns))
    judged = [
        (turn, stage.stage, stage.decision.inputs.get("totalTokens"))
        for turn, stage in stages(main, "preflight", "flush")
        if stage.decision.reason != "no_flush_plan"
    ]
    differences = GATE_DIFFERENCES.get(name, {})
    logged = [
        (
            row["turn"],
            row["gate"],
            differences.get((row["turn"], row["gate"]), row.get("tokenCount")),
        )
        for row in data(name, "gates.jsonl")
        if row["what"] == "check"
    ]
    assert judged == logged


CHECK_DIFFERENCES: dict[str, dict[int, int]] = {
    # SENT_EARLY: the message about the compaction (71 tokens, times 1.2) reached the prompt after.
    "safeguard-audit": {12: 6965, 13: 7643}
}


OTHER_CHECKS = {
    # The child's, which is a session of its own, and that of the announcement, whose prompt is not
    # stored.
    "subagent": (2, 3)
}


@pytest.mark.parametrize("name", NAMES)
def test_the_replay_estimates_every_prompt_as_the_runtime_logged_it(name: str) -> None:
    main = max(replayed(name), key=lambda run: len(run.turns))
    checks = stages(main, "pre_prompt_check")
    estimated = [_check(stage) for _, stage in checks]
    differences = CHECK_DIFFERENCES.get(name, {})
    logged = [
        [route, differences.get(number, estimate), budget, reducible]
        for number, (route, estimate, budget, reducible) in enumerate(data(name, "checks.json"))
    ]
    if name in LOCAL:  # NOT_STORED: the turns that were blocked are not in the transcript
        logged = logged[: len(estimated)]
    others = OTHER_CHECKS.get(name, ())
    logged = [check for number, check in enumerate(logged) if number not in others]
    assert estimated == logged


def _check(stage: StageRecord) -> list[Any]:
    decision = stage.decision
    steps = {step.name: step.value for step in decision.steps}
    return [
        decision.outcome,
        decision.inputs["estimatedPromptTokens"],
        steps["promptBudgetBeforeReserve"],
        steps["toolResultReducibleChars"],
    ]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LOCAL])
def test_the_replayed_transcript_has_the_size_of_the_recorded_one(name: str) -> None:
    for run in replayed(name):
        assert run.turns[-1].result.state.byte_size == run.recorded_bytes


STORE_FIELDS = (
    "totalTokens", "totalTokensFresh", "memoryFlushCompactionCount", "inputTokens", "outputTokens",
    "cacheRead", "cacheWrite", "contextTokens", "totalTokensVersion", "memoryFlush",
)  # fmt: skip
STORE_DIFFERENCES = {
    # LAG: the file was copied before the last turn's usage was written.
    "flush-never-reserve": {"totalTokens": 33432, "inputTokens": 33432},
}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LOCAL])
def test_the_replay_leaves_the_store_as_it_was_found(name: str) -> None:
    for files, run in zip(_index_entries(name), replayed(name), strict=True):
        index = run.turns[-1].result.state.index
        expected = {**{key: files.get(key) for key in STORE_FIELDS}, **STORE_DIFFERENCES.get(name, {})}  # fmt: skip
        assert {key: index.get(key) for key in STORE_FIELDS} == expected
        assert index.get("compactionCount", 0) == files.get("compactionCount", 0)


def _index_entries(name: str) -> list[dict[str, Any]]:
    entries = json.loads((folder(name) / "sessions.json").read_text(encoding="utf-8")).values()
    by_id = {entry["sessionId"]: entry for entry in entries}
    return [by_id[run.inputs.session_id] for run in replayed(name)]
