"""Which workspace files a run may see, in the order they are loaded (spec compaction 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from compaction_app.engine.composition.bootstrap_files import WorkspaceFile
from sessions_app.tokens import javascript as js

LOAD_ORDER = (
    "AGENTS.md",
    "SOUL.md",
    "TOOLS.md",
    "IDENTITY.md",
    "USER.md",
    "HEARTBEAT.md",
    "BOOTSTRAP.md",
    "MEMORY.md",
)
"""Budgets are spent in this order; in the prompt the files stand in another."""

SUBAGENT_FILES = frozenset({"AGENTS.md", "TOOLS.md"})
CRON_FILES = frozenset({"AGENTS.md", "TOOLS.md", "SOUL.md", "IDENTITY.md", "USER.md"})
HEARTBEAT_FILE = "HEARTBEAT.md"
BOOTSTRAP_FILE = "BOOTSTRAP.md"
MEMORY_FILE = "MEMORY.md"

LeftOutReason = Literal[
    "not_there",
    "session_kind",
    "setup_completed",
    "context_mode",
    "heartbeat_guidance_off",
    "no_path",
    "duplicate_path",
]


@dataclass(frozen=True, slots=True)
class LeftOut:
    name: str
    reason: LeftOutReason


@dataclass(frozen=True, slots=True)
class FileSelection:
    """The files a run sees, and every other with the first reason it is left out."""

    files: tuple[WorkspaceFile, ...]
    left_out: tuple[LeftOut, ...]


def select_files(
    files: Sequence[WorkspaceFile],
    *,
    session_key: str | None = None,
    context_mode: str | None = None,
    run_kind: str | None = None,
    setup_completed: bool = False,
    heartbeat_guidance: bool = True,
) -> FileSelection:
    """Apply all filters in their order; a missing file stays, and is marked in the prompt as missing.

    ``heartbeat_guidance``: whether the default agent is told about its heartbeats.
    """
    guided = heartbeat_guidance or run_kind == "heartbeat"
    for_session = set(files_for_session(files, session_key))
    for_mode = set(files_for_mode(files, context_mode, run_kind))
    tests: tuple[tuple[LeftOutReason, Callable[[WorkspaceFile], bool]], ...] = (
        ("not_there", lambda f: f.name == MEMORY_FILE and f.missing),
        ("session_kind", lambda f: f not in for_session),
        ("setup_completed", lambda f: f.name == BOOTSTRAP_FILE and setup_completed),
        ("context_mode", lambda f: f not in for_mode),
        ("heartbeat_guidance_off", lambda f: f.name == HEARTBEAT_FILE and not guided),
        ("no_path", lambda f: js.is_blank(f.path)),
    )
    kept: dict[str, WorkspaceFile] = {}
    left_out: list[LeftOut] = []
    for file in files:
        reason = next((name for name, applies in tests if applies(file)), None)
        if reason is None and file.path in kept:
            reason = "duplicate_path"
        if reason is None:
            kept[file.path] = file
        else:
            left_out.append(LeftOut(file.name, reason))
    return FileSelection(tuple(kept.values()), tuple(left_out))


def files_for_session(
    files: Sequence[WorkspaceFile], session_key: str | None
) -> tuple[WorkspaceFile, ...]:
    """The files a session of this kind sees: few for subagents, some for cron, else all."""
    if is_subagent_key(session_key):
        return tuple(file for file in files if file.name in SUBAGENT_FILES)
    if is_cron_key(session_key):
        return tuple(file for file in files if file.name in CRON_FILES)
    return tuple(files)


def files_for_mode(
    files: Sequence[WorkspaceFile], context_mode: str | None, run_kind: str | None
) -> tuple[WorkspaceFile, ...]:
    """In the mode ``lightweight`` a heartbeat sees its own file and every other run none."""
    if context_mode != "lightweight":
        return tuple(files)
    if run_kind == "heartbeat":
        return tuple(file for file in files if file.name == HEARTBEAT_FILE)
    return ()


def is_subagent_key(session_key: str | None) -> bool:
    return _rest(session_key).startswith("subagent:")


def is_cron_key(session_key: str | None) -> bool:
    return _rest(session_key).startswith("cron:")


def _rest(session_key: str | None) -> str:
    """A session key without the leading ``agent:<id>:``, in lower case."""
    key = js.norm(session_key)
    parts = key.split(":", 2)
    return parts[2] if len(parts) == 3 and parts[0] == "agent" else key
