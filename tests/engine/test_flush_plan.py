"""What a memory flush would say, and where it would write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.flush_plan import (
    HINTS,
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    FlushPlan,
    flush_plan,
    flush_settings,
)
from compaction_app.engine.flush_turn import flush_turn
from compaction_app.engine.zoned_time import date_stamp, ordinal_suffix, spoken_time, user_zone

NOON = 1_764_590_400_000  # 2025-12-01 12:00 UTC


def plan(flush: Any = None, now: int = NOON, **defaults: Any) -> FlushPlan:
    defaults["compaction"] = {"memoryFlush": flush or {}} | defaults.get("compaction", {})
    found = flush_plan({"agents": {"defaults": defaults}}, now, OPENCLAW_2026_5_28)
    assert found is not None
    return found


def test_the_file_is_named_after_the_users_day() -> None:
    late = plan(now=NOON, userTimezone=" Pacific/Auckland ")
    assert late.relative_path == "memory/2025-12-02.md"
    assert "Tuesday, December 2nd, 2025 - 1:00 AM (Pacific/Auckland)" in late.prompt
    assert late.prompt.endswith("\nReference UTC: 2025-12-01 12:00 UTC")


def test_a_configured_prompt_replaces_the_default_but_keeps_the_hints() -> None:
    found = plan({"prompt": " Save it. ", "systemPrompt": "Quiet: NO_REPLY"}, timeFormat="24")
    assert found.prompt.startswith(
        "Save it.\n\nStore durable memories only in memory/2025-12-01.md"
    )
    assert found.system_prompt.startswith("Quiet: NO_REPLY\n\n")
    assert "start with NO_REPLY" in found.prompt and "start with" not in found.system_prompt
    assert "Current time" not in found.system_prompt


def test_a_prompt_that_already_tells_the_time_gets_no_second_one() -> None:
    assert plan({"prompt": "Current time: noon"}).prompt.count("Current time:") == 1


def test_no_plan_when_the_flush_is_off() -> None:
    config = {"agents": {"defaults": {"compaction": {"memoryFlush": {"enabled": False}}}}}
    assert flush_plan(config, NOON, OPENCLAW_2026_5_28) is None


@pytest.mark.parametrize(
    ("enabled", "off"), [(None, False), (True, False), (False, True), (0, True)]
)
def test_the_oldest_version_takes_any_empty_value_for_off(enabled: object, off: bool) -> None:
    config = {"agents": {"defaults": {"compaction": {"memoryFlush": {"enabled": enabled}}}}}
    assert (flush_settings(config, OPENCLAW_2026_3) is None) is off


def test_only_the_later_version_has_a_model_for_the_flush() -> None:
    config = {"agents": {"defaults": {"compaction": {"memoryFlush": {"model": " m "}}}}}
    later = flush_plan(config, NOON, OPENCLAW_2026_5_28)
    earlier = flush_plan(config, NOON, OPENCLAW_2026_4_20)
    assert later and earlier and (later.model, earlier.model) == ("m", None)
    assert earlier.prompt.endswith(" / 2025-12-01 12:00 UTC")


@pytest.mark.parametrize(
    ("value", "expected"), [(-1, 4000), (12.9, 12), ("5", 4000), (float("nan"), 4000), (0, 0)]
)
def test_a_soft_threshold_that_is_no_number_from_zero_is_the_default(
    value: object, expected: int
) -> None:
    assert plan({"softThresholdTokens": value}).settings.soft_threshold == expected


def test_zones_fall_back_to_the_host_and_then_to_utc() -> None:
    assert user_zone("Nowhere/Land", "Asia/Tokyo") == "Asia/Tokyo"
    assert user_zone(None, "Nowhere/Land") == "UTC"
    assert user_zone("../../etc/passwd") == "UTC"


def test_the_case_of_a_zone_does_not_matter_and_it_is_written_as_configured() -> None:
    assert user_zone(" america/new_york ") == "america/new_york"
    late_evening = 1_767_225_600_000  # 2026-01-01 00:00 UTC
    assert date_stamp(late_evening, "america/new_york") == "2025-12-31"


def test_days_around_a_change_of_clocks() -> None:
    assert date_stamp(1_743_296_400_000, "America/New_York") == "2025-03-29"
    assert date_stamp(1_743_296_400_000, "Europe/London") == "2025-03-30"


def test_days_of_the_month_are_spoken() -> None:
    spoken = [f"{day}{ordinal_suffix(day)}" for day in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 31)]
    assert spoken == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "13th",
        "21st",
        "22nd",
        "23rd",
        "31st",
    ]


@pytest.mark.parametrize(("hour", "clock"), [(0, "12:05 AM"), (12, "12:05 PM"), (23, "11:05 PM")])
def test_hours_on_a_twelve_hour_clock(hour: int, clock: str) -> None:
    moment = (hour * 60 + 5) * 60_000
    assert spoken_time(moment, "UTC", twelve_hours=True).endswith(clock)


def test_the_prompt_reaches_the_model_as_an_event_of_the_runtime() -> None:
    found = plan()
    turn = flush_turn(found, OPENCLAW_2026_5_28)
    assert turn.user_text == "Continue the OpenClaw runtime event."
    assert turn.system_end.startswith("OpenClaw runtime event.\n")
    assert turn.system_end.endswith(found.prompt) and turn.extra_system == found.system_prompt
    earlier = flush_turn(found, OPENCLAW_2026_4_20)
    assert (earlier.user_text, earlier.system_end) == (found.prompt, "")


@given(st.text(max_size=30), st.integers(0, 4_000_000_000_000))
def test_every_prompt_protects_the_workspace(prompt: str, now: int) -> None:
    found = plan({"prompt": prompt, "systemPrompt": prompt}, now)
    date = found.relative_path.removeprefix("memory/").removesuffix(".md")
    for text in (found.prompt, found.system_prompt):
        assert all(hint.replace("YYYY-MM-DD", date) in text for hint in HINTS)
        assert "NO_REPLY" in text and "YYYY-MM-DD" not in text
