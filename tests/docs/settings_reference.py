"""The quick reference of every setting, from the policy record."""

from __future__ import annotations

from compaction_app.engine.policy import SETTINGS
from compaction_app.engine.policy_config import MODEL_KEYS
from compaction_app.engine.setting import Setting


def reference() -> str:
    """A table for each group of settings."""
    groups = list(dict.fromkeys(setting.group for setting in SETTINGS))
    return "\n".join(f"### {group}\n\n{_table(group)}" for group in groups)


def _table(group: str) -> str:
    rows = [_row(setting) for setting in SETTINGS if setting.group == group]
    return "\n".join(
        ["| setting | default | takes | what it does |", "| --- | --- | --- | --- |", *rows, ""]
    )


def _row(setting: Setting) -> str:
    unit = f" ({setting.unit})" if setting.unit else ""
    cells = (
        f"`{setting.key}`",
        _default(setting),
        (setting.accepts or _takes(setting)) + unit,
        setting.help,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default(setting: Setting) -> str:
    value = setting.default
    if value is None or value in ("", ()):
        return "unset"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,}" if isinstance(value, int | float) else f"`{value}`"


def _takes(setting: Setting) -> str:
    names = {"bool": "`true` or `false`.", "texts": "A list of texts.", "text": "A text."}
    return names.get(setting.kind, "")


MODEL_PLACE = ", ".join(f"`{key}`" for key in sorted(MODEL_KEYS))
