"""Each finding of the verdict, raised and not raised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.diagnose import Finding, Subject, findings
from compaction_app.engine.lines import lines_of
from compaction_app.engine.policy import Policy, with_changes
from tests.engine.builders import Script, chat

SESSION = chat(6, density=1.3, chars=20_000).grown()
UNBILLED = Script().user().answer().user().answer().grown()
HEALTHY: dict[str, Any] = {"contextWindow": 200_000}


def found(
    changes: dict[str, Any] | None = None, grown: Any = SESSION, around: Circumstances | None = None
) -> dict[str, Finding]:
    policy = with_changes(Policy(), {**HEALTHY, **(changes or {})})
    around = around or Circumstances(provider="mock", model="m")
    subject = Subject(policy, around, lines_of(policy, around), grown)
    return {finding.code: finding for finding in findings(subject)}


def test_nothing_is_said_of_a_healthy_configuration() -> None:
    assert found(grown=None) == {}
    assert set(found()) == {"ESTIMATOR_LOW"}


@pytest.mark.parametrize(
    ("window", "says"),
    [(3_000, "no model call is made"), (7_000, "the runtime warns at every start")],
)
def test_a_window_that_is_too_small(window: int, says: str) -> None:
    finding = found({"contextWindow": window})["WINDOW_TOO_SMALL"]
    assert finding.severity == "grave" and says in finding.consequence
    assert finding.numbers["contextWindow"] == window


def test_a_window_that_nobody_names() -> None:
    finding = found({"contextWindow": None})["WINDOW_ASSUMED"]
    assert finding.severity == "warn"
    assert "200,000" in finding.consequence
    assert finding.fix == {"contextWindow": 200_000}
    assert "WINDOW_ASSUMED" in found({"contextWindow": None, "contextTokens": 50_000})


@pytest.mark.parametrize("override", [64_000, 300_000])
def test_two_windows_that_differ(override: int) -> None:
    codes = found({"contextTokens": override})
    assert ("WINDOW_MISMATCH" in codes) == (override > 200_000)
    if override > 200_000:
        finding = codes["WINDOW_MISMATCH"]
        assert "300,000" in finding.consequence and "200,000" in finding.consequence
        assert finding.fix == {"contextTokens": None}


def test_a_reserve_that_takes_the_whole_window() -> None:
    finding = found({"contextWindow": 32_000, "compaction.reserveTokens": 32_000})[
        "COMPACTS_FROM_FIRST_TOKEN"
    ]
    assert finding.severity == "grave"
    fixed = found({"contextWindow": 32_000, **finding.fix})
    assert "COMPACTS_FROM_FIRST_TOKEN" not in fixed
    almost = found({"contextWindow": 32_000, "compaction.reserveTokens": 31_999})
    assert "COMPACTS_FROM_FIRST_TOKEN" not in almost


def test_a_flush_that_is_switched_off() -> None:
    finding = found({"compaction.memoryFlush.enabled": False})["FLUSH_DISABLED"]
    assert finding.fix == {"compaction.memoryFlush.enabled": True}
    assert "memoryFlush.enabled is false" in finding.consequence


def test_a_flush_that_a_small_window_leaves_no_room_for() -> None:
    finding = found({"contextWindow": 20_000})["FLUSH_DISABLED"]
    fixed = found({"contextWindow": 20_000, **finding.fix})
    assert "FLUSH_DISABLED" not in fixed


def test_every_fix_is_accepted_by_the_policy() -> None:
    for changes in (
        {"contextWindow": 2_000},
        {"contextWindow": None},
        {"contextTokens": 300_000},
        {"contextWindow": 20_000, "compaction.reserveTokens": 30_000},
        {"compaction.memoryFlush.enabled": False},
    ):
        for finding in found(changes).values():
            with_changes(Policy(), finding.fix)


def test_usage_that_is_missing_everywhere() -> None:
    numbers = found(grown=UNBILLED)["USAGE_MISSING"].numbers
    assert (numbers["callsWithoutUsage"], numbers["calls"]) == (2, 2)
    half = Script().user().answer(prompt=100).user().answer().grown()
    assert "USAGE_MISSING" not in found(grown=half)
    assert "USAGE_MISSING" not in found(grown=Script().user().grown())


def test_the_gravest_comes_first() -> None:
    policy = replace(Policy(), context_window=3_000, memory_flush_enabled=False)
    around = Circumstances(provider="mock", model="m")
    subject = Subject(policy, around, lines_of(policy, around), UNBILLED)
    order = [finding.severity for finding in findings(subject)]
    assert order == sorted(order, key=["grave", "warn", "info"].index)
    assert order[0] == "grave" and order[-1] == "info"
