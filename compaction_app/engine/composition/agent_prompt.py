"""The system prompt of an agent that is kept here: its own text, skills, workspace files, in parts.

Stable parts come first, so that a provider can cache them; what changes often stands behind the
boundary (spec compaction 5.2, 5.5, 5.6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from compaction_app.engine.composition.bootstrap_files import (
    FileRecord,
    InjectedFile,
    WorkspaceFile,
    inject_files,
)
from compaction_app.engine.composition.bootstrap_limits import bootstrap_limits
from compaction_app.engine.composition.file_selection import LeftOut, select_files
from compaction_app.engine.composition.project_context import (
    DYNAMIC_HEADING,
    HEADING,
    is_dynamic,
    order_context_files,
    project_context_section,
)
from compaction_app.engine.composition.skills import (
    Skill,
    select_skills,
    skills_list,
    skills_note,
)
from sessions_app.tokens import javascript as js

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

PartKind = Literal["instructions", "skills", "files", "changing files"]
BREAK = "\n\n"


@dataclass(frozen=True, slots=True)
class AgentTexts:
    """What an agent brings along. ``files`` are texts by name, ``tools`` their schemas."""

    instructions: str = ""
    files: Mapping[str, str] | None = None
    skills: Sequence[Skill] = ()
    tools: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A part of the system prompt; ``cacheable`` ones stand before the boundary."""

    kind: PartKind
    text: str
    cacheable: bool

    @property
    def chars(self) -> int:
        return js.utf16_len(self.text)


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """The parts in order. ``records`` tell how much of each file went in, ``left_out`` which did not."""

    parts: tuple[PromptPart, ...]
    records: tuple[FileRecord, ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]

    @property
    def text(self) -> str:
        return BREAK.join(part.text for part in self.parts)

    @property
    def chars(self) -> int:
        return js.utf16_len(self.text)


def agent_prompt(
    texts: AgentTexts, config: Mapping[str, Any], rules: RuleSet, session_key: str | None = None
) -> AgentPrompt:
    """The system prompt of a run; the session's key decides which files a subagent sees."""
    composition = rules.composition
    limits = bootstrap_limits(config, None, composition.limits)
    files = [WorkspaceFile(name, name, text) for name, text in (texts.files or {}).items()]
    selected = select_files(files, session_key=session_key)
    by_path = {file.path: file for file in selected.files}
    ordered = [by_path[path] for path in order_context_files(list(by_path)).ordered]
    injected = inject_files(
        ordered, limits.max_chars, limits.total_max_chars, composition.limits, composition.trim
    )
    parts = (
        PromptPart("instructions", texts.instructions, True),
        PromptPart("skills", _skills(texts.skills, config, rules.id), True),
        *_sections(injected.files),
    )
    return AgentPrompt(
        parts=tuple(part for part in parts if part.text),
        records=injected.records,
        left_out=selected.left_out,
        warnings=injected.warnings,
    )


def tool_chars(tool: Mapping[str, Any]) -> int:
    """The characters of a tool as it is sent: its description and its schema as JSON."""
    return js.utf16_len(js.json_text(tool))


def _sections(files: Sequence[InjectedFile]) -> tuple[PromptPart, PromptPart]:
    stable = [file for file in files if not is_dynamic(file.path)]
    dynamic = [file for file in files if is_dynamic(file.path)]
    heading = DYNAMIC_HEADING if stable else HEADING
    return (
        PromptPart("files", project_context_section(stable, HEADING, dynamic=False), True),
        PromptPart(
            "changing files", project_context_section(dynamic, heading, dynamic=True), False
        ),
    )


def _skills(skills: Sequence[Skill], config: Mapping[str, Any], rule_set: str) -> str:
    if not skills:
        return ""
    chosen = select_skills(skills, config, None, rule_set)
    note = skills_note(chosen, len(skills))
    listed = skills_list(chosen.skills, compact=chosen.compact)
    return "\n".join(("## Skills", *([note] if note else []), listed))
