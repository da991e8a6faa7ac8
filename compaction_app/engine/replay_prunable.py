"""What cache-TTL pruning must know of a branch whatever is cut in it: places, and sizes as recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from compaction_app.engine.pruning.cache_ttl import CHARS_PER_TOKEN
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings, SoftTrim
from compaction_app.engine.pruning.cache_ttl_trim import JOINT, trim_note
from compaction_app.engine.pruning.tool_patterns import prunable_tools
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens import javascript as js
from sessions_app.tokens.pruner_chars import IMAGE_CHARS, IMAGE_MARKER, PrunerCharRules
from sessions_app.transcripts.columns import ASSISTANT, TOOL_RESULT, UNKNOWN, USER, Columns, Ints

Trimmed = Callable[[Ints], Ints]
"""For rows (positions on the branch): what each weighs once it is soft-trimmed."""

Sums = memoryview
"""Prefix sums; a memory view hands out plain numbers without turning the array into a list."""

_POWERS: Final = 10 ** np.arange(1, 18, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Prunable:
    """A branch under one policy. Per row: ``sizes`` as pruning counts, ``shrinking`` how much of each
    character cut for good counts. ``results`` are the rows of prunable tool results; per result
    ``views`` is what a soft trim measures, ``by_text`` its weight when trimmed where its text decides
    (``UNKNOWN`` elsewhere).
    """

    settings: CacheTtlSettings
    rules: RuleSet
    window_tokens: int
    sizes: Ints
    shrinking: NDArray[np.float64]
    malformed: Sums
    answers: Sums
    answers_before: Sums
    next_user: Sums
    results: Ints
    results_before: Sums
    views: Ints
    has_image: NDArray[np.bool_]
    by_text: Ints

    @property
    def chars(self) -> PrunerCharRules:
        return self.rules.pruning.cache_ttl.chars

    @property
    def window_chars(self) -> int:
        """What ratios are of."""
        return self.window_tokens * CHARS_PER_TOKEN

    @property
    def placeholder_chars(self) -> int:
        """What a cleared result weighs."""
        return self.chars.weight(self.settings.hard_clear.placeholder)


def prunable_rows(
    rows: Columns,
    stripped: NDArray[np.bool_],
    settings: CacheTtlSettings,
    rules: RuleSet,
    window_tokens: int,
    trimmed: Trimmed,
) -> Prunable:
    """Look at a branch once; ``stripped`` rows are not there."""
    kept = ~stripped
    answers = (rows.kind == ASSISTANT) & kept
    is_prunable = prunable_tools(settings.tools)
    names = np.array([is_prunable(name) for name in rows.tool_names] or [False], np.bool_)
    prunable = (rows.kind == TOOL_RESULT) & kept & names[rows.tool]
    results = np.flatnonzero(prunable)
    chars = rules.pruning.cache_ttl.chars
    views, has_image = rows.view_chars[results], rows.images[results] > 0
    by_text = np.full(len(results), UNKNOWN, np.int64)
    changes = is_long(views, settings.soft_trim) | has_image
    asked = np.flatnonzero(changes & (rows.is_wide[results] == 1))
    if len(asked) and not is_plain(chars):
        by_text[asked] = trimmed(results[asked])
    return Prunable(
        settings=settings,
        rules=rules,
        window_tokens=window_tokens,
        sizes=_sizes(rows, chars) * kept,
        shrinking=_shrinking(rows, chars),
        malformed=sums((rows.pruner_chars == UNKNOWN) & kept),
        answers=np.flatnonzero(answers).data,
        answers_before=sums(answers),
        next_user=_next((rows.kind == USER) & kept),
        results=results,
        results_before=sums(prunable),
        views=views,
        has_image=has_image,
        by_text=by_text,
    )


def is_plain(chars: PrunerCharRules) -> bool:
    """Whether every character weighs one."""
    return chars.weight is js.utf16_len


def is_long(views: Ints, trim: SoftTrim) -> NDArray[np.bool_]:
    """Which results a soft trim shortens."""
    return np.asarray((views > trim.max_chars) & (trim.head_chars + trim.tail_chars < views))


def trimmed_length(views: Ints, trim: SoftTrim) -> Ints:
    """How long the texts are once they are shortened: head, joint, tail and note."""
    note = js.utf16_len(trim_note(trim.head_chars, trim.tail_chars, 0)) - 1
    digits = np.searchsorted(_POWERS, views, side="right") + 1
    return np.asarray(trim.head_chars + trim.tail_chars + len(JOINT) + note + digits)


def sums(values: NDArray[np.generic]) -> Sums:
    """Prefix sums of whole numbers, beginning with 0."""
    result = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=result[1:])
    return result.data


def _sizes(rows: Columns, chars: PrunerCharRules) -> Ints:
    known = np.maximum(rows.pruner_chars, 0)
    is_result = rows.kind == TOOL_RESULT
    if is_plain(chars):
        marked = rows.images * (js.utf16_len(IMAGE_MARKER) - chars.image_chars)
        return np.where(is_result, np.maximum(rows.view_chars - marked, 0), known)
    counted = is_result | (rows.kind == USER)
    return np.asarray(known + rows.images * (chars.image_chars - IMAGE_CHARS) * counted)


def _shrinking(rows: Columns, chars: PrunerCharRules) -> NDArray[np.float64]:
    """A narrow result loses what is cut; a wide one is taken as wide in all its parts."""
    if is_plain(chars):
        return np.ones(len(rows))
    share = rows.pruner_chars / np.maximum(rows.view_chars, 1)
    return np.where(rows.is_wide == 1, share, 1.0)


def _next(flags: NDArray[np.bool_]) -> Sums:
    """For each place the next one at or behind it that is true; the length where there is none."""
    places = np.append(np.where(flags, np.arange(len(flags)), len(flags)), len(flags))
    return np.ascontiguousarray(np.minimum.accumulate(places[::-1])[::-1]).data
