"""In which order, and in what words, workspace files stand in the prompt (spec compaction 5.1, 5.5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from compaction_app.engine.composition.bootstrap_files import InjectedFile
from compaction_app.engine.composition.bootstrap_report import base_name

PROMPT_ORDER = (
    "agents.md",
    "soul.md",
    "identity.md",
    "user.md",
    "tools.md",
    "bootstrap.md",
    "memory.md",
)
DYNAMIC_FILES = frozenset({"heartbeat.md"})
HEADING = "# Project Context"
DYNAMIC_HEADING = "# Dynamic Project Context"

_NOTES = {
    "soul.md": "SOUL.md: persona/tone. Follow it unless higher-priority instructions override.",
    "memory.md": "MEMORY.md: durable user preferences and behavior guidance. Keep following it "
    "throughout the session unless higher-priority instructions override.",
}
_STABLE_INTRO = "The following project context files have been loaded:"
_DYNAMIC_INTRO = (
    "The following frequently-changing project context files are kept below the cache boundary when "
    "possible:"
)
_BLANK_LINES = re.compile(r"\n{3,}")
DEFAULT_HEARTBEAT_PROMPT = (
    "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly. Do not infer or repeat "
    "old tasks from prior chats. If nothing needs attention, reply HEARTBEAT_OK."
)
_HEARTBEAT_BLOCK = f"Default heartbeat prompt:\n`{DEFAULT_HEARTBEAT_PROMPT}`"


@dataclass(frozen=True, slots=True)
class ContextFileOrder:
    """All paths in the order of the prompt; the dynamic ones stand below the cache boundary."""

    ordered: tuple[str, ...]
    stable: tuple[str, ...]
    dynamic: tuple[str, ...]


def order_context_files(paths: Sequence[str]) -> ContextFileOrder:
    """Known files in their order, then the others by name and path."""
    ordered = tuple(sorted(paths, key=_order_key))
    dynamic = tuple(path for path in ordered if is_dynamic(path))
    return ContextFileOrder(ordered, tuple(p for p in ordered if not is_dynamic(p)), dynamic)


def is_dynamic(path: str) -> bool:
    return base_name(path).lower() in DYNAMIC_FILES


def project_context_section(files: Sequence[InjectedFile], heading: str, *, dynamic: bool) -> str:
    """The section with every file under its path; empty without files."""
    if not files:
        return ""
    names = {base_name(file.path).lower() for file in files}
    notes = (note for name, note in _NOTES.items() if name in names)
    lines = [heading, "", _DYNAMIC_INTRO if dynamic else _STABLE_INTRO, *notes, ""]
    for file in files:
        lines += [f"## {file.path}", "", prompt_content(file.content), ""]
    return "\n".join(lines)


def prompt_content(content: str) -> str:
    """A file's text as it stands in the prompt.

    Without the block in which the template of AGENTS.md quotes the default heartbeat prompt (the
    prompt has its own section on heartbeats), and with one blank line where there were more.
    """
    return _BLANK_LINES.sub("\n\n", content.replace(_HEARTBEAT_BLOCK, ""))


def _order_key(path: str) -> tuple[int, str, str]:
    name = base_name(path).lower()
    known = PROMPT_ORDER.index(name) if name in PROMPT_ORDER else len(PROMPT_ORDER)
    return known, name, path
