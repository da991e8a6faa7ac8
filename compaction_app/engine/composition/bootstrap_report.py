"""What was cut from the workspace files, and whether the model is told so (spec compaction 5.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compaction_app.engine.composition.bootstrap_files import InjectedFile, WorkspaceFile
from compaction_app.engine.composition.bootstrap_limits import WarningMode
from compaction_app.engine.composition.bootstrap_trim import AGENTS_FILE
from compaction_app.engine.config_value import value_at
from sessions_app.tokens import javascript as js

NEAR_LIMIT_RATIO = 0.85
MAX_NAMED_FILES = 3
MAX_SEEN_SIGNATURES = 32

Cause = Literal["per-file-limit", "total-limit"]
CAUSE_WORDS: Mapping[Cause, str] = {"per-file-limit": "max/file", "total-limit": "max/total"}


@dataclass(frozen=True, slots=True)
class FileStats:
    """One file in characters: as it is on disk, trailing white space aside, and as it was injected."""

    name: str
    path: str
    missing: bool
    raw_chars: int
    injected_chars: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class TruncatedFile:
    stats: FileStats
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class BootstrapAnalysis:
    """The sums over the files that exist, which of them were cut, and which come near their limit."""

    raw_chars: int
    injected_chars: int
    max_chars: int
    total_max_chars: int
    total_near_limit: bool
    near: tuple[str, ...]
    truncated: tuple[TruncatedFile, ...]

    @property
    def truncated_chars(self) -> int:
        return max(0, self.raw_chars - self.injected_chars)


@dataclass(frozen=True, slots=True)
class BootstrapWarning:
    """Whether the model is warned. ``signature`` names what was cut, none when nothing was."""

    signature: str | None
    shown: bool
    lines: tuple[str, ...]
    seen: tuple[str, ...]


def file_stats(
    files: Sequence[WorkspaceFile], injected: Sequence[InjectedFile]
) -> tuple[FileStats, ...]:
    """Each file with what of it went into the prompt, found by its path or else by its name."""
    lengths = {shown.path: js.utf16_len(shown.content) for shown in injected}
    for shown in injected:
        lengths.setdefault(base_name(shown.path), js.utf16_len(shown.content))
    stats = []
    for file in files:
        raw = 0 if file.missing else js.utf16_len(js.trim_end(file.content or ""))
        path = js.trim(file.path) or file.name
        used = lengths.get(path, lengths.get(file.name, 0))
        cut = not file.missing and used < raw
        stats.append(FileStats(file.name, path, file.missing, raw, used, cut))
    return tuple(stats)


def base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def analyse(stats: Sequence[FileStats], max_chars: float, total: float) -> BootstrapAnalysis:
    """Compare the files with the limits, in characters."""
    per_file, total_limit = int(max(1, js.floor(max_chars))), int(max(1, js.floor(total)))
    present = [file for file in stats if not file.missing]
    injected = sum(file.injected_chars for file in present)
    near_file = js.ceil(per_file * NEAR_LIMIT_RATIO)
    causes: dict[Cause, bool] = {"total-limit": injected >= total_limit}

    def why(file: FileStats) -> tuple[Cause, ...]:
        found: dict[Cause, bool] = {"per-file-limit": file.raw_chars > per_file, **causes}
        return tuple(cause for cause, applies in found.items() if applies)

    return BootstrapAnalysis(
        raw_chars=sum(file.raw_chars for file in present),
        injected_chars=injected,
        max_chars=per_file,
        total_max_chars=total_limit,
        total_near_limit=injected >= js.ceil(total_limit * NEAR_LIMIT_RATIO),
        near=tuple(file.name for file in present if file.raw_chars >= near_file),
        truncated=tuple(TruncatedFile(file, why(file)) for file in present if file.truncated),
    )


def truncation_signature(analysis: BootstrapAnalysis) -> str | None:
    """A text that is the same as long as the same is cut; none when nothing is."""
    if not analysis.truncated:
        return None
    files = [
        {
            "path": file.stats.path,
            "rawChars": file.stats.raw_chars,
            "injectedChars": file.stats.injected_chars,
            "causes": sorted(file.causes),
        }
        for file in analysis.truncated
    ]
    files.sort(key=lambda f: (f["path"], f["rawChars"], f["injectedChars"], f["causes"]))
    return js.json_text(
        {
            "bootstrapMaxChars": analysis.max_chars,
            "bootstrapTotalMaxChars": analysis.total_max_chars,
            "files": files,
        }
    )


def bootstrap_warning(
    analysis: BootstrapAnalysis,
    mode: WarningMode,
    seen: Sequence[str] = (),
    previous: str | None = None,
    max_files: object = None,
    *,
    names_agents_file: bool = True,
) -> BootstrapWarning:
    """Warn always, once per signature, or never; the seen signatures go on to the next turn."""
    signature = truncation_signature(analysis)
    known = _append(distinct(seen), previous or "")
    shown = signature is not None and mode != "off" and (mode == "always" or signature not in known)
    remembered = known if signature is None or mode == "off" else _append(known, signature)
    lines = warning_lines(analysis, max_files, names_agents_file) if shown else ()
    return BootstrapWarning(signature, shown, lines, remembered)


def warning_lines(
    analysis: BootstrapAnalysis, max_files: object, names_agents_file: bool
) -> tuple[str, ...]:
    """The warning: the first cut files, how many more, and what to do about it."""
    count = js.pos_int(max_files) or MAX_NAMED_FILES
    named = analysis.truncated[:count]
    names = Counter(file.stats.name for file in analysis.truncated)
    lines = [_line(file, names[file.stats.name] > 1) for file in named]
    if len(analysis.truncated) > len(named):
        lines.append(f"+{len(analysis.truncated) - len(named)} more truncated file(s).")
    if names_agents_file and any(
        file.stats.name.lower() == AGENTS_FILE.lower() for file in analysis.truncated
    ):
        lines.append(
            f"{AGENTS_FILE} was truncated; read the full {AGENTS_FILE} before relying on scoped policy."
        )
    lines.append(
        "If unintentional, raise agents.defaults.bootstrapMaxChars and/or "
        "agents.defaults.bootstrapTotalMaxChars."
    )
    return tuple(lines)


def _line(file: TruncatedFile, ambiguous: bool) -> str:
    stats = file.stats
    removed = (stats.raw_chars - stats.injected_chars) / stats.raw_chars * 100
    causes = ", ".join(CAUSE_WORDS[cause] for cause in file.causes)
    label = f"{stats.name} ({stats.path})" if ambiguous and stats.path else stats.name
    return (
        f"{label}: {stats.raw_chars} raw -> {stats.injected_chars} injected "
        f"(~{js.round_half_up(removed)}% removed{f'; {causes}' if causes else ''})."
    )


def with_warning(prompt: str, lines: Sequence[str], exact_prompt: str | None = None) -> str:
    """The prompt with the warning behind it; ``exact_prompt`` is one that must stay as it is."""
    shown = [js.trim(line) for line in lines if not js.is_blank(line)]
    if not shown or (exact_prompt and prompt == exact_prompt):
        return prompt
    block = "\n".join(
        (
            "[Bootstrap truncation warning]",
            "Some workspace bootstrap files were truncated before injection.",
            "Treat Project Context as partial and read the relevant files directly if details seem "
            "missing.",
            *(f"- {line}" for line in shown),
        )
    )
    return f"{prompt}\n\n{block}" if prompt else block


def signatures_seen(report: Any) -> tuple[str, ...]:
    """The signatures that a stored report says were shown before."""
    truncation = value_at(report, "bootstrapTruncation")
    listed = value_at(truncation, "warningSignaturesSeen")
    known = distinct(listed if isinstance(listed, list) else ())
    single = value_at(truncation, "promptWarningSignature")
    if known or value_at(truncation, "warningMode") == "off" or not isinstance(single, str):
        return known
    return distinct((single,))


def distinct(signatures: Sequence[Any]) -> tuple[str, ...]:
    texts = (js.trim(s) for s in signatures if isinstance(s, str))
    return tuple(dict.fromkeys(text for text in texts if text))


def _append(seen: tuple[str, ...], signature: str) -> tuple[str, ...]:
    if js.is_blank(signature) or signature in seen:
        return seen
    return (*seen, signature)[-MAX_SEEN_SIGNATURES:]
