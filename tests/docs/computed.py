"""Which pages are computed, and by what."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.docs import concepts, lines_by_window, window_scenarios

DOCS: Final = Path(__file__).parents[2] / "docs"
RULES: Final = DOCS / "rules"

PAGES: Final[dict[str, Callable[[], str]]] = {
    "lines-by-window.md": lines_by_window.page,
    "window-scenarios.md": window_scenarios.page,
}


def concept_files() -> dict[str, str]:
    """The page about the concepts and its drawings, by their place below ``docs``."""
    return {"concepts.md": concepts.page()} | {
        f"img/{name}": drawing for name, drawing in concepts.pictures().items()
    }
