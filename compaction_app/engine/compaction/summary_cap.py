"""How a summary and the sections behind it are put together and kept short (spec compaction 3.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessions_app.tokens import javascript as js

MAX_SUMMARY_CHARS = 16000
TRUNCATED = "\n\n[Compaction summary truncated to fit budget]"


def append_section(summary: str, section: str) -> str:
    """The summary with the section behind it; a blank summary leaves the section alone."""
    if not section:
        return summary
    if js.is_blank(summary):
        return js.trim_start(section)
    return js.concat((summary, section))


def assemble_suffix(sections: Iterable[str]) -> str:
    """Sections in their order, set off from what stands before them by a blank line."""
    suffix = ""
    for section in sections:
        suffix = append_section(suffix, section)
    if suffix and suffix[0] not in js.SPACE:
        return f"\n\n{suffix}"
    return suffix


@dataclass(frozen=True, slots=True)
class CapRules:
    """``marks_always``: a limit that holds the marker and nothing else gives the marker, and not the
    beginning of the summary. ``keeps_pairs``: no cut splits a surrogate pair."""

    marks_always: bool = False
    keeps_pairs: bool = False


CAP_2026_5_28 = CapRules()
CAP_2026_9 = CapRules(marks_always=True, keeps_pairs=True)


def cap_summary(
    summary: str, max_chars: int = MAX_SUMMARY_CHARS, rules: CapRules = CAP_2026_5_28
) -> str:
    """At most ``max_chars``, the marker included; 0 and less mean no limit."""
    if max_chars <= 0 or js.utf16_len(summary) <= max_chars:
        return summary
    room = max_chars - len(TRUNCATED)
    if room < 0 or (room == 0 and not rules.marks_always):
        return js.utf16_slice(summary, 0, max_chars)
    head = js.utf16_slice(summary, 0, room)
    if rules.keeps_pairs and "\ud800" <= head[-1:] <= "\udbff":
        head = head[:-1]
    return head + TRUNCATED


def cap_keeping_suffix(
    summary: str,
    suffix: str,
    max_chars: int = MAX_SUMMARY_CHARS,
    rules: CapRules = CAP_2026_5_28,
) -> str:
    """Shortens the summary so that the suffix stays whole; of a suffix too long its end stays."""
    if not suffix:
        return cap_summary(summary, max_chars, rules)
    if max_chars <= 0:
        return js.concat((summary, suffix))
    length = js.utf16_len(suffix)
    if length >= max_chars:
        return js.utf16_slice(suffix, -max_chars)
    return js.concat((cap_summary(summary, max_chars - length, rules), suffix))
