"""What an edit of an agent would cost with every call, before it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compaction_app.agent_page import Cost, agent_context, cost_rows, total_of
from compaction_app.agent_setup import agent_setup, texts_of
from compaction_app.engine.composition.agent_prompt import AgentPrompt, agent_prompt
from compaction_app.engine.lines import lines_of
from sessions_app.models import Agent
from sessions_app.workspace import files_of

Files = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class CostChange:
    """A part of every call as it is stored and as it was edited, in estimated tokens; none for a part
    that is not there. ``exact`` is the difference by the model's vocabulary."""

    title: str
    before: int | None
    after: int | None
    exact: int

    @property
    def change(self) -> int:
        return (self.after or 0) - (self.before or 0)


@dataclass(frozen=True, slots=True)
class CostPreview:
    """The parts that there are, their sum, its share of the window as edited (none while that is
    unknown), and what would be cut of the files that were edited."""

    rows: Sequence[CostChange]
    total: CostChange
    share: float | None
    cut: Sequence[str]


def preview_context(
    stored: Agent, edited: Agent, files: Files, file_name: str | None, text: str | None = None
) -> dict[str, Any]:
    """The page of an agent with what an edit would cost; nothing is saved.

    ``files`` are the texts that would be written, none for one taken away; ``text`` is what the form of
    the open file says.
    """
    context = agent_context(stored, file_name)
    if text is not None:
        context["open_text"] = text
    return context | {"preview": cost_preview(stored, edited, files)}


def cost_preview(stored: Agent, edited: Agent, files: Files) -> CostPreview:
    """Every part of every call before and after an edit."""
    before, _ = _costs(stored, files_of(stored))
    texts = {name: text for name, text in {**files_of(stored), **files}.items() if text is not None}
    after, prompt = _costs(edited, texts)
    old, new = ({row.title: row for row in rows} for rows in (before, after))
    rows = [_change(title, old.get(title), new.get(title)) for title in {**old, **new}]
    window = _window(edited)
    whole = total_of(after, window)
    total = _change(whole.title, total_of(before, window), whole)
    cut = [
        f"{record.name}: {record.injected_chars:,} of {record.raw_chars:,} characters go in"
        for record in prompt.records
        if record.name in files and record.outcome == "truncated"
    ]
    return CostPreview(rows, total, whole.share, cut)


def _costs(agent: Agent, files: Mapping[str, str]) -> tuple[list[Cost], AgentPrompt]:
    around = agent_setup(agent).around
    prompt = agent_prompt(replace(texts_of(agent), files=files), around.config, around.rules)
    return cost_rows(agent, prompt, _window(agent)), prompt


def _window(agent: Agent) -> float:
    setup = agent_setup(agent)
    return lines_of(setup.policy, setup.around).window


def _change(title: str, before: Cost | None, after: Cost | None) -> CostChange:
    exact = (after.exact if after else 0) - (before.exact if before else 0)
    return CostChange(
        title, before.tokens if before else None, after.tokens if after else None, exact
    )
