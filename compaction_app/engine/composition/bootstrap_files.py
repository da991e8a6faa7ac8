"""With how much of its text each workspace file goes into a prompt (spec compaction 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compaction_app.engine.composition.bootstrap_limits import LimitRules
from compaction_app.engine.composition.bootstrap_trim import Trim, clamp, trim_file
from sessions_app.tokens import javascript as js

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
    budget = _Budget(int(max(1, js.floor(total))), per_file, trim, limits)
    for file in files:
        if budget.remaining <= 0 or not budget.take(file):
            break
    return Injection(tuple(budget.files), tuple(budget.warnings), tuple(budget.records))


class _Budget:
    """The walk over the files and what is left of the total."""

    def __init__(self, total: int, per_file: float, trim: Trim, limits: LimitRules) -> None:
        self.remaining, self.per_file, self.trim, self.limits = total, per_file, trim, limits
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
        own = self.limits.of_file(file.name, self.per_file)
        limit = max(1, min(own, self.remaining))
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
