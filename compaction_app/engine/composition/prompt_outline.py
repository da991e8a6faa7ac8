"""Which sections a system prompt has, and on which side of the cache boundary (spec compaction 5.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from compaction_app.engine.composition.project_context import (
    DYNAMIC_HEADING,
    HEADING,
    order_context_files,
)

PromptMode = Literal["full", "minimal", "none"]


@dataclass(frozen=True, slots=True)
class PromptParts:
    """What is known of a prompt before it is written: the parts that make a section appear."""

    mode: PromptMode = "full"
    context_paths: tuple[str, ...] = ()
    has_skills: bool = False
    has_memory: bool = False
    has_self_update: bool = False
    has_model_aliases: bool = False
    has_sandbox: bool = False
    has_owners: bool = False
    has_time_zone: bool = False
    pending_bootstrap: bool = False
    reasoning_format: bool = False
    has_voice: bool = False
    has_extra_prompt: bool = False
    has_reactions: bool = False
    has_heartbeat: bool = False


@dataclass(frozen=True, slots=True)
class PromptOutline:
    """The headings above the boundary, which a provider can cache, and those below."""

    above: tuple[str, ...]
    below: tuple[str, ...]


def prompt_outline(parts: PromptParts) -> PromptOutline:
    """The headings in order; the mode ``none`` has neither sections nor a boundary."""
    if parts.mode == "none":
        return PromptOutline((), ())
    order = order_context_files(parts.context_paths)
    above = (*_fixed(parts), *_files(HEADING, order.stable))
    if parts.mode == "full":
        above = (*above, "## Silent Replies")
    dynamic_heading = DYNAMIC_HEADING if order.stable else HEADING
    return PromptOutline(above, (*_files(dynamic_heading, order.dynamic), *_changing(parts)))


def _fixed(parts: PromptParts) -> Iterator[str]:
    full = parts.mode == "full"
    sections = (
        ("## Tooling", True),
        ("## Tool Call Style", True),
        ("## Execution Bias", full),
        ("## Safety", True),
        ("## OpenClaw Control", True),
        ("## Skills", parts.has_skills),
        ("## Memory", full and parts.has_memory),
        ("## Self-Update", full and parts.has_self_update),
        ("## Model Aliases", full and parts.has_model_aliases),
        ("## Workspace", True),
        ("## Documentation", full),
        ("## Sandbox", parts.has_sandbox),
        ("## Authorized Senders", full and parts.has_owners),
        ("## Current Date & Time", parts.has_time_zone),
        ("## Bootstrap Pending", parts.pending_bootstrap),
        ("## Workspace Files (injected)", True),
        ("## Assistant Output Directives", full),
        ("## Reasoning Format", parts.reasoning_format),
    )
    return (heading for heading, present in sections if present)


def _changing(parts: PromptParts) -> Iterator[str]:
    full = parts.mode == "full"
    extra = "## Group Chat Context" if full else "## Subagent Context"
    sections = (
        ("## Messaging", full),
        ("## Voice", full and parts.has_voice),
        (extra, parts.has_extra_prompt),
        ("## Reactions", parts.has_reactions),
        ("## Heartbeats", full and parts.has_heartbeat),
        ("## Runtime", True),
    )
    return (heading for heading, present in sections if present)


def _files(heading: str, paths: Sequence[str]) -> tuple[str, ...]:
    return (heading, *(f"## {path}" for path in paths)) if paths else ()
