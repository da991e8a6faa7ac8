"""The published figures: what the last calibration on the held-out part gave."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from compaction_app.engine.retention.anchors import TITLES

PUBLISHED: Final = Path(__file__).with_name("published.json")


@cache
def published() -> dict[str, Any]:
    """As ``calibrate_retention --publish`` wrote them: by kind, precision and recall of both steps."""
    figures: dict[str, Any] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    return figures


def as_markdown() -> str:
    """The published figures as the table of the documentation."""
    told = published()
    lines = [
        "| kind | found: precision | recall | facts | recognised: precision | recall | summaries |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, steps in told["kinds"].items():
        cells = [
            f"{step['precision']:.3f} | {step['recall']:.3f} | {step['right'] + step['missed']}"
            for step in (steps["extraction"], steps["matching"])
        ]
        lines.append(f"| {TITLES[kind]} | {' | '.join(cells)} |")
    return "\n".join(lines)
