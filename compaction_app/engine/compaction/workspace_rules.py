"""The rules of the workspace that a safeguard summary carries along (spec compaction 3.2)."""

from __future__ import annotations

from collections.abc import Sequence

from compaction_app.engine.compaction.agents_sections import SectionRules, rules_sections
from sessions_app.tokens import javascript as js

MAX_RULES_CHARS = 2000
RULES_FILE = "AGENTS.md"
CUT_MARKER = "\n...[truncated]..."


def workspace_rules_section(content: str | None, names: Sequence[str], rules: SectionRules) -> str:
    """The named sections of AGENTS.md as a block; empty without names, file or sections."""
    if content is None or not names:
        return ""
    found = rules_sections(content, names, rules).sections
    if not found:
        return ""
    text = cut_with_marker("\n\n".join(found), MAX_RULES_CHARS)
    return f"\n\n<workspace-critical-rules>\n{text}\n</workspace-critical-rules>"


def cut_with_marker(text: str, limit: int) -> str:
    if js.utf16_len(text) <= limit:
        return text
    return js.utf16_slice(text, 0, limit) + CUT_MARKER
