"""Which parts of the workspace files never reach the model, by section?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from compaction_app.engine.composition.bootstrap_files import WorkspaceFile, inject_files
from compaction_app.engine.composition.bootstrap_limits import bootstrap_limits
from compaction_app.engine.diagnose.finding import Finding
from compaction_app.engine.diagnose.overhead import cut_file
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens import javascript as js

BEFORE_HEADINGS: Final = "(before the first heading)"


def find(
    files: Sequence[WorkspaceFile], config: Mapping[str, Any], rules: RuleSet
) -> Iterator[Finding]:
    """One finding for each file that this configuration cuts."""
    limits = bootstrap_limits(config, None, rules.composition.limits)
    injection = inject_files(
        files,
        limits.max_chars,
        limits.total_max_chars,
        rules.composition.limits,
        rules.composition.trim,
    )
    shown = {file.path: file.content for file in injection.files}
    for file in files:
        text = js.trim_end(file.content or "")
        used = shown.get(file.path, "")
        sections = lost_by_section(text, used)
        lost = sum(sections.values())
        if used != text and lost:
            yield cut_file(file.name, js.utf16_len(text), js.utf16_len(used), lost, sections)


def lost_by_section(text: str, shown: str) -> dict[str, int]:
    """Characters of ``text`` that are not in ``shown``, by the heading above them.

    What was kept is the beginning, the end, and lines of the middle that a digest repeats.
    """
    head = _common(text, shown)
    tail = _common(text[head:][::-1], shown[head:][::-1])
    end = len(text) - tail
    digest = {line.strip() for line in shown[head : len(shown) - tail].split("\n")}
    lost: dict[str, int] = {}
    heading, at = BEFORE_HEADINGS, 0
    for line in text.split("\n"):
        following = at + len(line) + 1
        if line.startswith("#"):
            heading = line.lstrip("# ").strip() or heading
        gone = text[max(at, head) : min(following, end)]
        if gone and not (line.strip() and " ".join(line.split()) in digest):
            lost[heading] = lost.get(heading, 0) + js.utf16_len(gone)
        at = following
    return lost


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    length = min(len(one), len(other))
    low, high = 0, length
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
