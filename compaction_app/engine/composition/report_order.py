"""The fields of a stored system prompt report in the order in which the runtime writes them.

``/context json`` prints the report as it is stored. A database may keep an object with its keys in
an order of its own, so the order is put back (order: the recorded ``sessions.json`` files of the runs).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

FIELDS: Final = {
    "": (
        "source", "generatedAt", "sessionId", "sessionKey", "provider", "model", "workspaceDir",
        "bootstrapMaxChars", "bootstrapTotalMaxChars", "bootstrapTruncation", "sandbox", "systemPrompt",
        "injectedWorkspaceFiles", "skills", "tools", "currentTurn",
    ),
    "bootstrapTruncation": (
        "warningMode", "warningShown", "truncatedFiles", "nearLimitFiles", "totalNearLimit",
    ),
    "sandbox": ("mode", "sandboxed"),
    "systemPrompt": ("chars", "hash", "projectContextChars", "nonProjectContextChars"),
    "injectedWorkspaceFiles": (
        "name", "path", "missing", "rawChars", "injectedChars", "truncated",
    ),
    "skills": ("promptChars", "hash", "entries"),
    "skills.entries": ("name", "blockChars"),
    "tools": ("listChars", "schemaChars", "entries"),
    "tools.entries": (
        "name", "summaryChars", "summaryHash", "schemaChars", "schemaHash", "propertiesCount",
    ),
    "currentTurn": ("promptChars", "runtimeContextChars", "modelOnlyPromptChars"),
}  # fmt: skip


def in_order(report: Any, place: str = "") -> Any:
    """The report with its fields in the runtime's order; fields that are not known come last."""
    if isinstance(report, list):
        return [in_order(part, place) for part in report]
    if not isinstance(report, Mapping):
        return report
    known = [name for name in FIELDS.get(place, ()) if name in report]
    names = [*known, *(name for name in report if name not in known)]
    return {name: in_order(report[name], f"{place}.{name}" if place else name) for name in names}
