"""Which workspace files go into a prompt, and with how much of their text (spec compaction 5.1, 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compaction_app.engine.composition.bootstrap_limits import LimitRules
from compaction_app.engine.composition.bootstrap_trim import Trim, clamp, trim_file
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
MIN_REMAINING_CHARS = 64

InjectionOutcome = Literal["whole", "truncated", "missing", "blank", "no_path", "no_budget"]


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """A file as it was loaded; a missing one has no content."""

    name: str
    path: str = ""
    content: str | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class InjectedFile:
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What happened to one file: ``remaining`` is the budget it met, in characters."""

    name: str
    outcome: InjectionOutcome
    raw_chars: int
    injected_chars: int
    remaining: int


@dataclass(frozen=True, slots=True)
class Injection:
    """The files as they go into the prompt, warnings in the runtime's words, and the record."""

    files: tuple[InjectedFile, ...]
    warnings: tuple[str, ...]
    records: tuple[FileRecord, ...]


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


def inject_files(
    files: Sequence[WorkspaceFile],
    max_chars: float | None,
    total_max_chars: float | None,
    limits: LimitRules,
    trim: Trim,
) -> Injection:
    """Fill the prompt file by file until the total is spent; a limit not given is the default."""
    per_file = limits.max_chars if max_chars is None else max_chars
    total = max(per_file, limits.total_max_chars) if total_max_chars is None else total_max_chars
    budget = _Budget(int(max(1, js.floor(total))), per_file, trim)
    for file in files:
        if budget.remaining <= 0 or not budget.take(file):
            break
    return Injection(tuple(budget.files), tuple(budget.warnings), tuple(budget.records))


class _Budget:
    """The walk over the files and what is left of the total."""

    def __init__(self, total: int, per_file: float, trim: Trim) -> None:
        self.remaining, self.per_file, self.trim = total, per_file, trim
        self.files: list[InjectedFile] = []
        self.warnings: list[str] = []
        self.records: list[FileRecord] = []

    def take(self, file: WorkspaceFile) -> bool:
        """Inject one file as far as the budget goes; false ends the walk."""
        path = js.trim(file.path)
        raw = js.utf16_len(js.trim_end(file.content or ""))
        if not path:
            self.warnings.append(
                f'skipping bootstrap file "{file.name}" — missing or invalid "path" field '
                '(hook may have used "filePath" instead)'
            )
            self._note(file, "no_path", raw, 0)
        elif file.missing:
            marker = clamp(f"[MISSING] Expected at: {path}", self.remaining)
            self._add(file, path, marker, "missing", 0)
        elif self.remaining < MIN_REMAINING_CHARS:
            self.warnings.append(
                f"remaining bootstrap budget is {self.remaining} chars (<{MIN_REMAINING_CHARS}); "
                "skipping additional bootstrap files"
            )
            self._note(file, "no_budget", raw, 0)
            return False
        else:
            self._inject(file, path)
        return True

    def _inject(self, file: WorkspaceFile, path: str) -> None:
        limit = max(1, min(self.per_file, self.remaining))
        trimmed = trim_file(file.content or "", file.name, limit, self.trim)
        content = clamp(trimmed.content, self.remaining)
        if not content:
            self._note(file, "blank", trimmed.original_length, 0)
            return
        if trimmed.truncated:
            self.warnings.append(
                f"workspace bootstrap file {file.name} is {trimmed.original_length} chars "
                f"(limit {js.number_text(trimmed.max_chars)}); truncating in injected context"
            )
        outcome: InjectionOutcome = "truncated" if trimmed.truncated else "whole"
        self._add(file, path, content, outcome, trimmed.original_length)

    def _add(
        self, file: WorkspaceFile, path: str, content: str, outcome: InjectionOutcome, raw: int
    ) -> None:
        self._note(file, outcome, raw, js.utf16_len(content))
        self.files.append(InjectedFile(path, content))
        self.remaining = max(0, self.remaining - js.utf16_len(content))

    def _note(self, file: WorkspaceFile, outcome: InjectionOutcome, raw: int, used: int) -> None:
        self.records.append(FileRecord(file.name, outcome, raw, used, self.remaining))
