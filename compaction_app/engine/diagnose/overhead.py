"""What takes its part of the window in every call: system prompt, files, skills, tools, images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from compaction_app.engine.diagnose.finding import Finding, whole
from compaction_app.engine.diagnose.subject import CHARS_PER_TOKEN, Subject
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import IMAGE_CHARS

OVERHEAD_SHARE: Final = 0.25
IMAGE_SHARE: Final = 0.1


def find(subject: Subject) -> Iterator[Finding]:
    """Findings about constant parts of a prompt, and about images that stay in the history."""
    yield from _overhead(subject)
    yield from _images(subject)
    yield from _cut_files(subject)


def overhead_tokens(subject: Subject) -> int:
    """Tokens of system prompt and tool schemas: by the runtime's report, else as billed; 0 if unknown."""
    return sum(_parts(subject).values()) or (
        whole(subject.calibration.overhead) if subject.calibration.enough else 0
    )


def _parts(subject: Subject) -> dict[str, int]:
    """What the report names, estimated tokens by characters / 4; empty without a report."""
    prompt, tools = subject.report.get("systemPrompt"), subject.report.get("tools")
    found = {
        "systemPromptTokens": _tokens(prompt, "chars"),
        "toolSchemaTokens": _tokens(tools, "schemaChars"),
    }
    return {name: tokens for name, tokens in found.items() if tokens}


def _tokens(holder: Any, key: str) -> int:
    chars = holder.get(key) if isinstance(holder, Mapping) else None
    return -(-int(chars) // CHARS_PER_TOKEN) if js.is_finite(chars) and chars > 0 else 0


def _overhead(subject: Subject) -> Iterator[Finding]:
    window, tokens = subject.lines.window, overhead_tokens(subject)
    if not subject.is_known or tokens <= window * OVERHEAD_SHARE:
        return
    parts = _parts(subject)
    injected = subject.report.get("injectedWorkspaceFiles")
    files = injected if isinstance(injected, list) else []
    numbers: dict[str, int | float | str] = {
        "overheadTokens": tokens,
        "contextWindow": window,
        **parts,
        "estimator": "characters / 4" if parts else "billed",
    }
    largest = max(files, key=lambda file: _tokens(file, "injectedChars"), default=None)
    if largest is not None and _tokens(largest, "injectedChars"):
        numbers["largestFile"] = str(largest.get("name", ""))
        numbers["largestFileTokens"] = _tokens(largest, "injectedChars")
    yield Finding(
        "OVERHEAD_HIGH",
        f"System prompt, files, skills and tool schemas take {tokens:,} of {window:,} tokens in every "
        "call, before anybody has said a word.",
        numbers,
    )


def _images(subject: Subject) -> Iterator[Finding]:
    if subject.grown is None or not subject.is_known:
        return
    grown = subject.grown
    start = int(grown.compactions.kept[-1]) if len(grown.compactions.place) else 0
    images = int(grown.columns.images[start:].sum())
    tokens, window = images * IMAGE_CHARS // CHARS_PER_TOKEN, subject.lines.window
    if tokens <= window * IMAGE_SHARE:
        return
    yield Finding(
        "ATTACHMENTS_ACCUMULATE",
        f"{images} images in the history take about {tokens:,} of {window:,} tokens in every call.",
        {"images": images, "imageTokens": tokens, "contextWindow": window, "estimator": "1,200 an image"},
    )  # fmt: skip


def _cut_files(subject: Subject) -> Iterator[Finding]:
    """Workspace files that the runtime's report says were cut."""
    injected = subject.report.get("injectedWorkspaceFiles")
    for file in injected if isinstance(injected, list) else ():
        if not isinstance(file, Mapping) or file.get("missing") is True:
            continue
        raw, used = file.get("rawChars"), file.get("injectedChars")
        if not (js.is_finite(raw) and js.is_finite(used) and file.get("truncated") is True):
            continue
        yield cut_file(str(file.get("name") or "a file"), int(raw), int(used), int(raw - used))


def cut_file(
    name: str, raw: int, used: int, lost: int, sections: Mapping[str, int] | None = None
) -> Finding:
    """The finding for one file; ``sections`` are characters lost by heading, where known."""
    numbers: dict[str, int | float | str] = {
        "file": name,
        "rawChars": raw,
        "injectedChars": used,
        "lostChars": lost,
    }
    where = ""
    if sections:
        numbers["lostBySection"] = "; ".join(
            f"{title}: {chars}" for title, chars in sections.items()
        )
        where = f", most of them in {max(sections, key=lambda title: sections[title])!r}"
    return Finding(
        "CONTEXT_FILE_TRUNCATED",
        f"{name} has {raw:,} characters, and {'at least ' if not sections else ''}{lost:,} of them "
        f"never reach the model{where}.",
        numbers,
    )
