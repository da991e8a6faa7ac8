"""Codes as words and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from compaction_app.engine.reasons import sentence
from compaction_app.stages import title_of

register = template.Library()
register.filter("sentence", sentence)
register.filter("stage_title", title_of)


@register.filter
def words(code: str) -> str:
    """A code as words: ``soft_trim`` as "soft trim"."""
    return code.replace("_", " ")


@register.filter
def at(values: Mapping[Any, Any], key: Any) -> Any:
    """What stands under a key; none where nothing does."""
    return values.get(key)
