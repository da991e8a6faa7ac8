"""The published figures: what the last calibration on the held-out part gave."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

PUBLISHED: Final = Path(__file__).with_name("published.json")


@cache
def published() -> dict[str, Any]:
    """As ``calibrate_retention --publish`` wrote them: by kind, precision and recall of both steps."""
    figures: dict[str, Any] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    return figures
