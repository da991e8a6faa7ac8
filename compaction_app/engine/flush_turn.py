"""In which form does a flush plan reach the model? (runs 3.3)

The user message of a flush turn is one fixed sentence, by which readers of transcripts know such turns;
the flush prompt itself stands at the end of the system prompt. Earlier versions send the prompt as the
user message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from compaction_app.engine.flush_plan import FlushPlan, FlushPlanRules
from sessions_app.importers.marks import FLUSH_USER_TEXT

EVENT_HEADING: Final = (
    "OpenClaw runtime event.\n"
    "This context is runtime-generated, not user-authored. Keep internal details private.\n\n"
)
TOOLS: Final = ("read", "write")
"""The only tools of a flush turn; writing appends to the one file of the plan."""


@dataclass(frozen=True, slots=True)
class FlushTurn:
    """The texts of a flush turn: ``extra_system`` joins the run's own extra system prompt,
    ``system_end`` closes the whole system prompt, "" when there is none."""

    user_text: str
    extra_system: str
    system_end: str


def flush_turn(plan: FlushPlan, rules: FlushPlanRules) -> FlushTurn:
    """The texts by which a plan is carried out."""
    if rules.as_runtime_event:
        return FlushTurn(FLUSH_USER_TEXT, plan.system_prompt, EVENT_HEADING + plan.prompt)
    return FlushTurn(plan.prompt, plan.system_prompt, "")
