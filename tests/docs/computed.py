"""Which pages are computed, and by what."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.docs import lines_by_window, window_scenarios

RULES: Final = Path(__file__).parents[2] / "docs" / "rules"

PAGES: Final[dict[str, Callable[[], str]]] = {
    "lines-by-window.md": lines_by_window.page,
    "window-scenarios.md": window_scenarios.page,
}
