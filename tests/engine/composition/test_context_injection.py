"""Whether workspace files are injected on a turn (spec compaction 5.4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compaction_app.engine.composition.context_injection import (
    INJECTION_2026_4_20,
    INJECTION_2026_5_28,
    ContextInjection,
    bootstrap_mode,
    context_injection,
    has_completed_bootstrap,
    injection_mode,
)
from compaction_app.engine.rule_sets import OPENCLAW_2026_4_20, OPENCLAW_2026_5_28, RuleSet

MARK = json.dumps({"type": "custom", "customType": "openclaw:bootstrap-context:full"})
COMPACTION = json.dumps({"type": "compaction"})


def decide(mode: Any, rules: RuleSet = OPENCLAW_2026_5_28, **given: Any) -> ContextInjection:
    usual = {"bootstrap": "none", "run_kind": None, "context_mode": None, "completed": True}
    return context_injection(mode, **{**usual, **given}, rules=rules)


def test_a_continuation_is_skipped_once_the_files_were_injected() -> None:
    assert decide("continuation-skip").is_continuation
    assert not decide("continuation-skip", completed=False).is_continuation
    assert not decide("continuation-skip", run_kind="heartbeat").is_continuation
    assert decide("always").decision.fired


def test_only_a_full_setup_leaves_the_mark() -> None:
    assert decide("always", bootstrap="full").records_marker
    assert not decide("always", bootstrap="none").records_marker
    assert not decide("always", bootstrap="full", context_mode="lightweight").records_marker


def test_never_is_obeyed_since_the_newest_version() -> None:
    assert decide("never").decision.reason == "injection_off"
    assert decide("never", OPENCLAW_2026_4_20).decision.fired


def test_the_mode_of_the_agent_counts_before_that_of_the_defaults() -> None:
    config = {"agents": {"defaults": {"contextInjection": "never"}, "list": [{"id": "a"}]}}
    assert injection_mode(config, "a") == "never"
    config["agents"]["list"] = [{"id": "a", "contextInjection": "always"}]  # type: ignore[assignment]
    assert injection_mode(config, "a") == "always"
    assert injection_mode({}, None) == "always"


@pytest.mark.parametrize(
    ("lines", "completed"),
    [([MARK, "{}"], True), ([MARK, COMPACTION], False), ([COMPACTION, MARK], True), ([], False)],
)
def test_a_compaction_takes_the_mark_away(lines: list[str], completed: bool) -> None:
    assert has_completed_bootstrap("\n".join(["{bad", *lines, ""])) is completed


def test_only_the_end_of_a_long_file_is_read() -> None:
    assert has_completed_bootstrap("\n".join([MARK, *["{}"] * 499]))
    assert not has_completed_bootstrap("\n".join([MARK, *["{}"] * 500]))
    assert not has_completed_bootstrap(f"{MARK}\n{json.dumps('x' * 300_000)}\n")


def test_a_run_without_files_cannot_carry_on_a_setup_whole() -> None:
    run = {"pending": True, "run_kind": None, "is_primary": True, "is_interactive": True,
           "is_canonical_workspace": True}  # fmt: skip
    new, old = INJECTION_2026_5_28, INJECTION_2026_4_20
    assert bootstrap_mode(**run, has_file_access=True, rules=new) == "full"  # type: ignore[arg-type]
    assert bootstrap_mode(**run, has_file_access=False, rules=new) == "limited"  # type: ignore[arg-type]
    assert bootstrap_mode(**run, has_file_access=False, rules=old) == "none"  # type: ignore[arg-type]
