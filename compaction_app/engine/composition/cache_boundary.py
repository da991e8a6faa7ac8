"""Where the part of a system prompt that stays the same ends (spec compaction 5.5)."""

from __future__ import annotations

from dataclasses import dataclass

from sessions_app.tokens import javascript as js

CACHE_BOUNDARY = "\n<!-- OPENCLAW_CACHE_BOUNDARY -->\n"


@dataclass(frozen=True, slots=True)
class SplitPrompt:
    stable: str
    dynamic: str


def split_at_boundary(prompt: str) -> SplitPrompt | None:
    """Both sides of the boundary without the white space at it; none when there is no boundary."""
    before, boundary, after = prompt.partition(CACHE_BOUNDARY)
    return SplitPrompt(js.trim_end(before), js.trim_start(after)) if boundary else None


def without_boundary(prompt: str) -> str:
    return prompt.replace(CACHE_BOUNDARY, "\n")


def with_addition(prompt: str, addition: str) -> str:
    """The prompt with a context engine's addition as the first thing behind the boundary."""
    lines = addition.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    added = js.trim("\n".join(line.rstrip(" \t") for line in lines))
    if not added:
        return prompt
    split = split_at_boundary(prompt)
    if split is None:
        return f"{added}\n\n{prompt}"
    dynamic = f"\n\n{split.dynamic}" if split.dynamic else ""
    return f"{split.stable}{CACHE_BOUNDARY}{added}{dynamic}"
