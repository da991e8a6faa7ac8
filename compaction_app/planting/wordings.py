"""The two parts of the wordings: those the rules were written with, and those held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

from compaction_app.engine.retention.anchors import AnchorKind
from compaction_app.planting import (
    build_names,
    fourth_build,
    held_out,
    second_build,
    statements,
    third_build,
    third_names,
)
from compaction_app.planting.plant import Part

K = TypeVar("K")
ByLanguage = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Wordings:
    """Facts and decoys of one part: sentences by kind and language, texts around identifiers, tool
    calls, errors and asks."""

    statements: Mapping[AnchorKind, tuple[ByLanguage, ByLanguage]]
    frames: ByLanguage
    decoys: Mapping[AnchorKind, tuple[str, ...]]
    actions: tuple[str, ...]
    no_actions: tuple[str, ...]
    errors: tuple[str, ...]
    no_errors: tuple[str, ...]
    asks: tuple[str, ...]
    no_asks: tuple[str, ...]


def wordings_of(part: Part) -> Wordings:
    """The wordings of a part."""
    if part == "held out":
        return _of(held_out, held_out.STATEMENTS)
    parts = [_of(build_names, statements.STATEMENTS)]
    parts += [_of(more, more.STATEMENTS) for more in (second_build, fourth_build)]
    parts.append(_of(third_names, third_build.STATEMENTS))
    return reduce(_together, parts)


def _together(one: Wordings, other: Wordings) -> Wordings:
    said = {
        kind: (
            _joined(facts, other.statements[kind][0]),
            _joined(decoys, other.statements[kind][1]),
        )
        for kind, (facts, decoys) in one.statements.items()
    }
    return Wordings(
        said,
        _joined(one.frames, other.frames),
        _joined(one.decoys, other.decoys),
        one.actions + other.actions,
        one.no_actions + other.no_actions,
        one.errors + other.errors,
        one.no_errors + other.no_errors,
        one.asks + other.asks,
        one.no_asks + other.no_asks,
    )


def _of(names: Any, said: Mapping[AnchorKind, tuple[ByLanguage, ByLanguage]]) -> Wordings:
    return Wordings(
        said, names.FRAMES, names.DECOYS, names.ACTIONS, names.NO_ACTIONS, names.ERRORS, names.NO_ERRORS,
        names.ASKS, names.NO_ASKS,
    )  # fmt: skip


def _joined(
    one: Mapping[K, tuple[str, ...]], other: Mapping[K, tuple[str, ...]]
) -> dict[K, tuple[str, ...]]:
    return {key: tuple(dict.fromkeys((*texts, *other[key]))) for key, texts in one.items()}
