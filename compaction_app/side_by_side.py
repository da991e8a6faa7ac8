"""Two columns of named lines, and where they begin to differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it was stored and as the replay has it; "" where one has none.

    ``is_first`` marks the first line of all that differs.
    """

    name: str
    stored: str
    again: str
    is_first: bool = False

    @property
    def differs(self) -> bool:
        return self.stored != self.again


def side_by_side(left: Mapping[str, str], right: Mapping[str, str]) -> tuple[Line, ...]:
    """The lines of both by their names, in the order of the left one, the other's own behind."""
    names = [*left, *(name for name in right if name not in left)]
    lines = [Line(name, left.get(name, ""), right.get(name, "")) for name in names]
    first = next((n for n, line in enumerate(lines) if line.differs), None)
    return tuple(replace(line, is_first=n == first) for n, line in enumerate(lines))


def figure(value: object) -> str:
    """A value as a line shows it."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int | float) else str(value)
