"""Policies for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from compaction_app.engine.policy import SETTINGS, Policy, with_changes
from compaction_app.engine.setting import Setting

_TEXT = st.text("abcXYZ 019_-/.", min_size=1, max_size=12).filter(lambda text: text.strip() == text)


def values(setting: Setting) -> st.SearchStrategy[Any]:
    """Values that a setting accepts."""
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "bool": st.booleans(),
        "choice": st.sampled_from(setting.choices or ("",)),
        "text": _TEXT,
        "duration": st.sampled_from(("5m", "1h", "30s")),
        "texts": st.lists(_TEXT, max_size=3).map(tuple),
        "bytes": st.integers(0, 2**40) | st.sampled_from(("2mb", "40kb", "1.5g")),
    }
    if setting.kind not in ("int", "number"):
        return kinds[setting.kind]
    low = int(setting.low or setting.minimum or 0)
    high = int(setting.high or setting.maximum or 100_000)
    if setting.kind == "int" or (setting.high or 0) > 1:
        return st.integers(max(low, 1 if setting.above_minimum else 0), high)
    return st.floats(setting.minimum or 0, setting.maximum or 1)


@st.composite
def policies(draw: st.DrawFn, keys: frozenset[str] | None = None) -> Policy:
    """The defaults with a few settings (of ``keys``, if given) at other values."""
    free = [s for s in SETTINGS if keys is None or s.key in keys]
    chosen = draw(st.lists(st.sampled_from(free), unique_by=lambda s: s.key, max_size=8))
    return with_changes(Policy(), {s.key: draw(values(s)) for s in chosen})
