"""Every rule on the recorded state: under its own configuration it decides what was recorded."""

from __future__ import annotations

import pytest

from compaction_app.engine.simulation.audit import audit, audit_report
from tests.golden.runs import LOCAL, NAMES, replayed


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LOCAL])
def test_the_rules_decide_what_was_recorded(name):
    for run in replayed(name):
        assert [t.turn.recorded.number for t in audit(run.inputs) if not t.agrees] == []


def test_a_blocked_turn_whose_prompt_was_not_stored_shows_as_a_compaction_out_of_nothing():
    (run,) = replayed("local-agent")
    assert [t.turn.recorded.number for t in audit(run.inputs) if not t.agrees] == [10]


def test_decisions_stand_beside_what_happened():
    (run,) = replayed("keep-small-32k")
    report = audit_report(run.inputs, audit(run.inputs))
    assert report["mode"] == "audit"
    fired = {
        (d["turn"], d["stage"])
        for d in report["decisions"]
        if d["fired"] and d["stage"] in ("preflight", "flush")
    }
    assert fired == {
        (16, "flush"), (17, "preflight"), (17, "flush"), (25, "preflight"), (25, "flush"),
        (32, "preflight"), (32, "flush"),
    }  # fmt: skip
    assert report["recorded"][16] == {
        "turn": 17, "flushes": 1, "compactions": 1, "gatewayReplies": 0, "agrees": True,
    }  # fmt: skip
    skipped = [d for d in report["decisions"] if d["turn"] == 20 and d["stage"] == "flush"]
    assert skipped[0]["reason"] == "below_threshold"
