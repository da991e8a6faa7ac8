"""The page of all lines for windows of usual sizes."""

from __future__ import annotations

from typing import Final

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.lines import Line, Lines, lines_of
from compaction_app.engine.policy import Policy
from compaction_app.engine.reasons import sentence
from compaction_app.engine.rule_sets import RULE_SETS, RuleSet
from tests.docs.tables import table

WINDOWS: Final = (16_000, 16_384, 32_000, 96_000, 128_000, 200_000, 1_000_000)
NAMES: Final = ("flush", "preflight", "pre_prompt", "inner_threshold")
HEAD: Final = (
    "window", "settings reserve", "prompt reserve", "flush line", "preflight line", "pre-prompt line",
    "inner threshold", "guard",
)  # fmt: skip

INTRODUCTION: Final = """# The lines, by window

Where each mechanism acts when nothing but the window is configured, on the path `chat`. This page is
computed: `python -m tests.docs` writes it, and a test fails when it and the engine disagree.

- **window**: the model's context window, tokens.
- **settings reserve**: what the settings resolve to ([reserve](reserve.md)).
- **prompt reserve**: what the pre-prompt check keeps free; half of a small window stays for the prompt.
- **flush line**, **preflight line**: billed prompt tokens ([memory flush](memory-flush.md),
  [preflight compaction](preflight.md)); reaching the line is enough.
- **pre-prompt line**: estimated tokens ([prompt routing](prompt-routing.md)); above it the prompt has
  to shrink.
- **inner threshold**: billed total tokens ([inner threshold](inner-threshold.md)); above it the
  runtime compacts by itself. At 0 or below it fires after every run.
- **guard**: what the [window guard](window-guard.md) says.

Lines of different units cannot be compared as they are. *off* means that the mechanism does not act;
the reasons stand below each table.
"""


def page() -> str:
    parts = [INTRODUCTION]
    for rules in reversed(RULE_SETS.values()):
        usual, checked = section(rules, "default"), section(rules, "safeguard")
        if usual == checked:
            parts.append(f"## {rules.id}, both modes\n\n{usual}")
        else:
            parts.append(f"## {rules.id}, mode default\n\n{usual}")
            parts.append(f"## {rules.id}, mode safeguard\n\n{checked}")
    return "\n".join(parts)


def section(rules: RuleSet, mode: str) -> str:
    around = Circumstances(provider="acme", model="m", rules=rules)
    found = [
        lines_of(Policy(context_window=window, compaction_mode=mode), around) for window in WINDOWS
    ]
    off = {
        f"- {line.title} off: {sentence(line.reason)}.": None
        for lines in found
        for line in map(lines.named, NAMES)
        if not line.active
    }
    return table(HEAD, map(row, found)) + ("\n" + "\n".join(off) + "\n" if off else "")


def row(lines: Lines) -> tuple[str, ...]:
    return (
        f"{lines.window:,}",
        f"{lines.settings.reserve_tokens:,}",
        f"{lines.check_budget.effective_reserve:,}" if lines.named("pre_prompt").active else "none",
        *(shown(lines.named(name)) for name in NAMES),
        lines.guard.decision.outcome,
    )


def shown(line: Line) -> str:
    return f"{line.tokens:,}" if line.active else "off"
