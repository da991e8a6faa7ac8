"""Answer golden cases: ``python -m tests.conformance SUITE < cases.json > results.json``.

In: a list of ``{id, fn, args}``. Out: a list of ``{id, result}``, or ``{id, error}`` where the engine
raised or the function is unknown. A suite is a section of the rules under the current rule set, or a
whole runtime version, whose function names are prefixed by the section.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from compaction_app.engine.rule_sets import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    OPENCLAW_2026_9,
    RuleSet,
)
from tests.conformance import budgets, compaction, profiles, pruning

SECTIONS = {
    "budgets": budgets.answer,
    "pruning": pruning.answer,
    "compaction": compaction.answer,
    "profiles": profiles.answer,
}
SUITES: dict[str, tuple[RuleSet, str | None]] = {
    "budgets": (OPENCLAW_2026_5_28, "budgets"),
    "pruning": (OPENCLAW_2026_5_28, "pruning"),
    "compaction": (OPENCLAW_2026_5_28, "compaction"),
    "openclaw-2026.3.13": (OPENCLAW_2026_3, None),
    "openclaw-2026.4.20": (OPENCLAW_2026_4_20, None),
    "openclaw-2026.9.6": (OPENCLAW_2026_9, None),
}


def answer(suite: str, case: dict[str, Any]) -> dict[str, Any]:
    """One case's result under the suite's rule set."""
    rules, section = SUITES[suite]
    name = case["fn"]
    if section is None:
        section, _, name = name.partition(".")
    try:
        return {"id": case["id"], "result": SECTIONS[section](name, case["args"], rules)}
    except Exception as error:
        return {"id": case["id"], "error": f"{type(error).__name__}: {error}"}


def main(suite: str) -> int:
    if suite not in SUITES:
        print(f"unknown suite {suite!r}; one of {', '.join(SUITES)}", file=sys.stderr)
        return 2
    json.dump([answer(suite, case) for case in json.load(sys.stdin)], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
