"""One compaction from the entries to the boundary (spec compaction 2, 3.8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.compaction.boundary import (
    successor_entries,
    successor_name,
    tokens_after,
)
from compaction_app.engine.compaction.duplicate_asks import duplicate_asks
from compaction_app.engine.compaction.failures import Failure
from compaction_app.engine.compaction.run import CompactionOrder, CompactionRun, run_compaction
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28, OPENCLAW_2026_9, RuleSet
from tests.engine.compaction.driving import ABORT, ERROR, Model, assistant, branch, user

ORDER = CompactionOrder(
    mode="default",
    settings=CompactionSettings(keep_recent_tokens=150),
    entry_id="k",
    timestamp="2026-01-02T00:00:00.000Z",
    now_ms=0,
)
LONG = "x" * 400
TALK = branch([user(LONG), assistant(LONG), user(LONG), assistant(LONG)])


def run(
    path: list[Any], summariser: Model, rules: RuleSet = OPENCLAW_2026_5_28, **changes: Any
) -> CompactionRun:
    found = summariser.run(run_compaction(path, replace(ORDER, **changes), rules))
    assert isinstance(found, CompactionRun)
    return found


def test_the_entry_keeps_the_tail_and_the_record_says_how_it_came_about() -> None:
    found = run(TALK, Model("S"))
    assert found.entry == {
        "type": "compaction", "id": "k", "parentId": "e3", "timestamp": ORDER.timestamp,
        "summary": "S", "firstKeptEntryId": "e2", "tokensBefore": 400,
        "details": {"readFiles": [], "modifiedFiles": []}, "fromHook": False,
    }  # fmt: skip
    assert (found.tokens_before, found.tokens_after) == (400, 201)
    assert found.prepared is not None and found.prepared.cut.kept == range(2, 4)


def test_a_manual_compaction_keeps_nothing_unless_a_tail_is_configured() -> None:
    hardened = run(TALK, Model("S"), manual=True)
    assert hardened.entry is not None and hardened.entry["firstKeptEntryId"] == "k"
    kept = run(TALK, Model("S"), manual=True, configured_keep=150)
    assert kept.entry is not None and kept.entry["firstKeptEntryId"] == "e2"
    small = run(TALK[:2], Model("S"), manual=True)
    assert small.boundary is not None and small.boundary.reason == "nothing_summarised"


def test_a_split_turn_is_summarised_in_two_calls() -> None:
    found = run(TALK, Model("one", "two"), settings=CompactionSettings(keep_recent_tokens=100))
    assert found.entry is not None
    assert found.entry["summary"] == "one\n\n---\n\n**Turn Context (split turn):**\n\ntwo"


def test_a_session_that_is_kept_whole_is_compacted_all_the_same() -> None:
    model = Model("S")
    found = run(TALK, model, settings=CompactionSettings())
    assert found.outcome == "compacted"
    assert model.calls[0].messages == ()
    assert found.tokens_after == 401


@pytest.mark.parametrize(("manual", "outcome"), [(True, "failed"), (False, "skipped")])
def test_since_2026_9_a_session_that_is_kept_whole_is_left_alone(
    manual: bool, outcome: str
) -> None:
    model = Model()
    settings = CompactionSettings()
    found = run(TALK, model, rules=OPENCLAW_2026_9, settings=settings, manual=manual)
    assert (found.outcome, found.message) == (outcome, "Nothing to compact (session too small)")
    assert model.calls == []


@pytest.mark.parametrize(("manual", "outcome"), [(True, "failed"), (False, "skipped")])
def test_a_branch_that_was_just_compacted_is_left_alone(manual: bool, outcome: str) -> None:
    compacted = run(TALK, Model("S")).entry
    found = run([*TALK, compacted], Model("S"), manual=manual)
    assert (found.outcome, found.message) == (outcome, "Already compacted")


def test_a_session_of_heartbeats_is_not_compacted_from_outside() -> None:
    quiet = branch([user("HEARTBEAT_OK"), assistant("NO_REPLY")])
    found = run(quiet, Model())
    assert (found.outcome, found.message) == ("skipped", "no real conversation messages")
    assert run(quiet, Model("S"), inside_run=True).outcome == "compacted"


@pytest.mark.parametrize(
    ("failure", "reason", "message"),
    [
        (ABORT, "aborted", ABORT.message),
        (ERROR, "summarization_failed", "Summarization failed: boom"),
        (Failure("Error", ""), "summarization_failed", "Summarization failed: Unknown error"),
    ],
)
def test_a_failed_summary_fails_the_compaction(failure: Failure, reason: str, message: str) -> None:
    found = run(TALK, Model(failure))
    assert (found.outcome, found.decision.reason, found.message) == ("failed", reason, message)


def test_the_safeguard_s_entry_is_marked_as_a_hook_s() -> None:
    found = run(TALK, Model("S"), mode="safeguard", model={"provider": "p", "id": "m"})
    assert found.entry is not None and found.entry["fromHook"] is True
    cancelled = run(TALK, Model("S"), mode="safeguard")
    assert (cancelled.outcome, cancelled.decision.reason) == ("cancelled", "no_model")


def test_tokens_that_contradict_what_was_there_before_are_not_believed() -> None:
    assert tokens_after(100, 99, None) is None
    assert tokens_after(100, 100, 10) == 100
    assert tokens_after(111, None, 100) is None
    assert tokens_after(110, None, 100) == 110


def test_a_successor_leaves_out_what_was_summarised_and_mends_the_parents() -> None:
    change = {"type": "model_change", "id": "m1", "parentId": None}
    label = {"type": "label", "id": "l1", "parentId": "e3", "targetId": "e0"}
    latest = {"type": "model_change", "id": "m2", "parentId": "l1"}
    end = {"type": "compaction", "id": "k", "parentId": "m2", "firstKeptEntryId": "e2"}
    path = [change, *TALK, label, latest, end]
    other = {"type": "message", "id": "o", "parentId": "e1", "message": user()}
    kept = successor_entries(path, [*path, other])
    assert [(entry["id"], entry["parentId"]) for entry in kept] == [
        ("o", None), ("e2", None), ("e3", "e2"), ("m2", "e3"), ("k", "m2"),
    ]  # fmt: skip
    assert successor_name("2026-01-01T00:00:00.000Z", "x") == "2026-01-01T00-00-00-000Z_x.jsonl"


def test_an_ask_repeated_within_a_minute_is_a_duplicate() -> None:
    def at(ms: float, text: str = "please deploy the service now") -> dict[str, Any]:
        return {**user(text), "timestamp": ms}

    messages = [at(0), at(60_000, "Please  DEPLOY the\nservice now"), at(120_000), at(180_001)]
    assert duplicate_asks(messages) == {1, 2}
    assert duplicate_asks([at(0, "short"), at(1, "short")]) == frozenset()
    image = {"role": "user", "content": [{"type": "image"}], "timestamp": 0}
    assert duplicate_asks([image, image]) == frozenset()
