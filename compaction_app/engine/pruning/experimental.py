"""What if the runtime's fixed constants were others?

None of these can be set in a configuration. A rule set built here is no version's: it carries a mark,
and its id says so in every decision made with it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

ID_SUFFIX: Final = "+experimental"


@dataclass(frozen=True, slots=True)
class ExperimentalConstants:
    """Constants to try; none keeps the version's.

    ``tail_share`` and ``tail_max_chars``: the part of a cut text that its important end gets.
    ``hard_newline_share`` and ``soft_newline_share``: how far into the kept text a line must end for a
    cut to move back to it. ``single_share`` and ``headroom_share``: the parts of the window that one
    result and the whole context may fill before a model call. ``image_chars``: the weight of an image.
    """

    tail_share: float | None = None
    tail_max_chars: int | None = None
    hard_newline_share: float | None = None
    soft_newline_share: float | None = None
    single_share: float | None = None
    headroom_share: float | None = None
    image_chars: int | None = None


def with_constants(rules: RuleSet, constants: ExperimentalConstants) -> RuleSet:
    """``rules`` with these constants in every record that uses them; the same object without any."""
    if all(getattr(constants, field.name) is None for field in fields(constants)):
        return rules
    pruning = rules.pruning
    truncation = _set(
        pruning.truncation,
        tail_share=constants.tail_share,
        tail_max_chars=constants.tail_max_chars,
        head_newline_share=constants.hard_newline_share,
    )
    loop_chars = _set(rules.loop_chars, image_chars=constants.image_chars)
    cut = _set(pruning.guard.cut, newline_share=constants.soft_newline_share)
    if cut.truncation is not None:
        cut = replace(cut, truncation=truncation)
    guard = _set(
        pruning.guard,
        single_share=constants.single_share,
        headroom_share=constants.headroom_share,
    )
    recovery = replace(pruning.recovery, truncation=truncation)
    changed = replace(
        pruning,
        truncation=truncation,
        recovery=recovery,
        persist=replace(pruning.persist, truncation=truncation),
        session_rewrite=replace(pruning.session_rewrite, recovery=recovery),
        guard=replace(guard, cut=replace(cut, chars=loop_chars)),
        cache_ttl=replace(
            pruning.cache_ttl,
            chars=_set(pruning.cache_ttl.chars, image_chars=constants.image_chars),
        ),
        experimental=True,
    )
    return replace(rules, id=rules.id + ID_SUFFIX, pruning=changed, loop_chars=loop_chars)


def _set(record: Any, **constants: float | None) -> Any:
    return replace(record, **{name: c for name, c in constants.items() if c is not None})
