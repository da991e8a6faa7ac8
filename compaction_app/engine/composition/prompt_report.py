"""What a system prompt was made of, and what each part cost (spec compaction 5.7).

The report is a plain JSON value, as a session keeps it (``systemPromptReport``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.composition.bootstrap_report import FileStats
from sessions_app.tokens import javascript as js

_CONTEXT_START = "\n# Project Context\n"
_CONTEXT_END = "\n## Silent Replies\n"
_SKILL = re.compile(r"<skill>.*?</skill>", re.IGNORECASE | re.DOTALL)
_SKILL_NAME = re.compile(r"<name>(.*?)</name>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """What the report says about the run itself; none is left out."""

    provider: str | None = None
    model: str | None = None
    workspace_dir: str | None = None
    max_chars: int | None = None
    total_max_chars: int | None = None
    generated_at_ms: int = 0
    source: str = "run"


def prompt_report(
    run: ReportedRun,
    system_prompt: str,
    skills_prompt: str,
    files: Sequence[FileStats],
    tools: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The report of one prompt; lengths in UTF-16 units, hashes SHA-256 of the UTF-8 form."""
    context = project_context_chars(system_prompt)
    chars = js.utf16_len(system_prompt)
    entries = [_tool(tool) for tool in tools]
    return {
        **_head(run),
        "systemPrompt": {
            "chars": chars,
            "hash": text_hash(system_prompt),
            "projectContextChars": context,
            "nonProjectContextChars": max(0, chars - context),
        },
        "injectedWorkspaceFiles": [_file(file) for file in files],
        "skills": {
            "promptChars": js.utf16_len(skills_prompt),
            "hash": text_hash(skills_prompt),
            "entries": [_skill(block) for block in _SKILL.findall(skills_prompt)],
        },
        "tools": {
            "listChars": 0,
            "schemaChars": sum(entry["schemaChars"] for entry in entries),
            "entries": entries,
        },
    }


def _head(run: ReportedRun) -> dict[str, Any]:
    head = {
        "source": run.source,
        "generatedAt": run.generated_at_ms,
        "provider": run.provider,
        "model": run.model,
        "workspaceDir": run.workspace_dir,
        "bootstrapMaxChars": run.max_chars,
        "bootstrapTotalMaxChars": run.total_max_chars,
    }
    return {key: value for key, value in head.items() if value is not None}


def project_context_chars(system_prompt: str) -> int:
    """How much of a prompt is workspace files: their heading up to the next section."""
    start = system_prompt.find(_CONTEXT_START)
    if start < 0:
        return 0
    end = system_prompt.find(_CONTEXT_END, start)
    return js.utf16_len(system_prompt[start : end if end >= 0 else None])


def text_hash(text: str) -> str:
    """SHA-256 of a text; a lone surrogate is hashed as the replacement character."""
    data = js.concat((text,)).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return hashlib.sha256(data.encode()).hexdigest()


def _file(file: FileStats) -> dict[str, Any]:
    return {
        "name": file.name,
        "path": file.path,
        "missing": file.missing,
        "rawChars": file.raw_chars,
        "injectedChars": file.injected_chars,
        "truncated": file.truncated,
    }


def _skill(block: str) -> dict[str, Any]:
    found = _SKILL_NAME.search(block)
    name = js.trim(found[1]) if found else ""
    return {"name": name or "(unknown)", "blockChars": js.utf16_len(block)}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    texts = (tool.get("description"), tool.get("label"))
    summary = next((js.trim(t) for t in texts if isinstance(t, str) and not js.is_blank(t)), "")
    schema = tool.get("parameters")
    written = "" if schema is None else js.json_text(schema)
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return {
        "name": tool.get("name"),
        "summaryChars": js.utf16_len(summary),
        "summaryHash": text_hash(summary),
        "schemaChars": js.utf16_len(written),
        "schemaHash": text_hash(written),
        "propertiesCount": len(properties) if isinstance(properties, Mapping) else None,
    }
