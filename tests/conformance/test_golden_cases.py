"""The golden cases at hand, answered by the engine.

A file ``<suite>.<topic>.json`` in the folder of vectors holds cases of that suite; they are grouped by
function, so that a failure names the function and lists the cases.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.__main__ import answer

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


def _groups() -> Iterator[Any]:
    for path in sorted(VECTORS.glob("*.json")):
        suite = path.stem.rpartition(".")[0]
        by_function = defaultdict(list)
        for case in json.loads(path.read_text()):
            by_function[case["fn"]].append(case)
        for function, cases in by_function.items():
            yield pytest.param(suite, cases, id=f"{suite}-{function}")


def _agrees(answered: Any, wanted: Any) -> bool:
    """Equal, where numbers are numbers but never booleans, and a thrown error equals any error."""
    if isinstance(wanted, dict):
        return (
            isinstance(answered, dict)
            and answered.keys() == wanted.keys()
            and all(_agrees(answered[key], wanted[key]) for key in wanted)
        )
    if isinstance(wanted, list):
        return (
            isinstance(answered, list)
            and len(answered) == len(wanted)
            and all(map(_agrees, answered, wanted))
        )
    if isinstance(answered, bool) or isinstance(wanted, bool):
        return answered is wanted
    return bool(answered == wanted)


def _passes(suite: str, case: dict[str, Any]) -> bool:
    given = answer(suite, case)
    wanted = case["result"]
    if isinstance(wanted, dict) and "$throws" in wanted:
        return "error" in given
    return "result" in given and _agrees(given["result"], wanted)


@pytest.mark.parametrize(("suite", "cases"), list(_groups()))
def test_the_engine_answers_as_the_runtime_did(suite: str, cases: list[dict[str, Any]]) -> None:
    assert [case["id"] for case in cases if not _passes(suite, case)] == []


def test_a_wrong_answer_would_be_noticed() -> None:
    case = {"id": "x", "fn": "est.tokensFromChars", "args": {"chars": 5}}
    assert _passes("budgets", {**case, "result": 2})
    assert not _passes("budgets", {**case, "result": 1})
    assert not _passes("budgets", {**case, "result": {"$throws": "?"}})
    assert not _passes("budgets", {**case, "fn": "no.such", "result": None})
    assert not _agrees(True, 1)
