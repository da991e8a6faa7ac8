"""The report that ``/context json`` prints keeps the runtime's order of fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compaction_app.engine.composition.report_order import in_order

RUNS = Path(__file__).resolve().parents[2] / "data" / "runs"
REPORTS = [
    entry["systemPromptReport"]
    for path in sorted(RUNS.glob("*/sessions.json"))
    for entry in json.loads(path.read_text(encoding="utf-8")).values()
    if "systemPromptReport" in entry
]


def sorted_keys(value: Any) -> Any:
    return json.loads(json.dumps(value, sort_keys=True))


def test_there_are_reports_to_compare_with() -> None:
    assert REPORTS


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_whose_keys_a_database_sorted_has_its_order_back(report: dict[str, Any]) -> None:
    assert json.dumps(in_order(sorted_keys(report))) == json.dumps(report)


def test_fields_that_nobody_knows_come_last_and_stay() -> None:
    assert list(in_order({"zeta": 1, "tools": {"new": 1, "listChars": 2}, "source": "run"})) == [
        "source", "tools", "zeta",
    ]  # fmt: skip
    assert list(in_order({"tools": {"new": 1, "listChars": 2}})["tools"]) == ["listChars", "new"]
    assert in_order(None) is None and in_order([1, "x"]) == [1, "x"]
