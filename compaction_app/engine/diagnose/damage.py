"""What was wrong with the files themselves, as importers report it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compaction_app.engine.diagnose.finding import Finding
from sessions_app.transcripts.transcript import Problem


def find(problems: Iterable[Problem]) -> Iterator[Finding]:
    """One finding for each kind of damage: the first place, how many there are, what was kept."""
    kinds: dict[str, list[Problem]] = {}
    for problem in problems:
        kinds.setdefault(problem.kind, []).append(problem)
    for kind, found in kinds.items():
        first = found[0]
        more = f" ({len(found)} places in all)" if len(found) > 1 else ""
        numbers: dict[str, int | float | str] = {"places": len(found)}
        if first.line:
            lines = [str(problem.line) for problem in found[:20]]
            numbers["lines"] = ", ".join(lines) + (", ..." if len(found) > 20 else "")
        yield Finding(kind, f"{first.message}{more}", numbers, line=first.line or None)
