"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, figures: bool = True) -> str:
    """A table; every column but the first is aligned to the right where it holds figures."""
    rule = ["---", *["---:" if figures else "---"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows)) + "\n"
