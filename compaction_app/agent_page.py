"""The pages of agents: what each part of a call costs, which windows win, what is kept."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from compaction_app.agent_setup import agent_setup, refresh_of, texts_of
from compaction_app.chosen import choices
from compaction_app.engine.composition.agent_prompt import AgentPrompt, agent_prompt, tool_chars
from compaction_app.engine.composition.bootstrap_files import FileRecord
from compaction_app.engine.lines import Lines, lines_of
from compaction_app.engine.reasons import sentence
from compaction_app.model_tests import last_test
from compaction_app.models import ModelConnection
from compaction_app.plugins import DEFAULT_SUMMARISER
from compaction_app.runs import Situation, situation_of
from compaction_app.summarisers.trouble import address
from sessions_app.masking import mask
from sessions_app.models import Agent, Job
from sessions_app.tokens import exact
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import tokens_of_chars
from sessions_app.workers import has_worker
from sessions_app.workspace import files_of

SHOWN_SESSIONS = 10
FILE_OUTCOMES = {
    "whole": "whole",
    "truncated": "cut",
    "missing": "missing",
    "blank": "empty",
    "no_path": "no path",
    "no_budget": "no room left",
}
REFRESH_REASONS = {
    "injected": "put before the model after each compaction",
    "not_configured": "off: compaction.postCompactionSections names no section",
    "no_agents_file": "nothing: the workspace has no AGENTS.md",
    "sections_not_found": "nothing: AGENTS.md has none of the sections that are named",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """A part of every call. ``tokens`` is the estimate of the checks (characters / 4), ``exact`` by the
    model's vocabulary; ``share`` of the window, none while that is unknown."""

    title: str
    note: str
    chars: int
    tokens: int
    exact: int
    share: float | None

    @property
    def width(self) -> str:
        """Of a bar, in per cent."""
        return f"{min(self.share or 0, 1) * 100:.2f}"


def agents_context(agents: QuerySet[Agent]) -> dict[str, Any]:
    """The list: each agent with how many sessions it has, and when the last one was active."""
    counted = agents.annotate(
        session_count=Count("sessions", distinct=True),
        live_count=Count("sessions", filter=Q(sessions__is_live=True), distinct=True),
        last_at=Max("sessions__last_at"),
        version=Max("policies__number"),
    )
    return {"agents": counted.order_by("name", "pk")}


def agent_context(agent: Agent, file_name: str | None) -> dict[str, Any]:
    """One agent's page; ``file_name`` is the workspace file that is open, "" for a new one."""
    setup = agent_setup(agent)
    seen = None if agent.model or agent.is_live else seen_of(agent)
    if seen is not None:
        setup = replace(setup, policy=seen.policy, around=seen.around)
    lines = lines_of(setup.policy, setup.around)
    texts = texts_of(agent)
    prompt = agent_prompt(texts, setup.around.config, setup.around.rules)
    costs = cost_rows(agent, prompt, lines.window)
    files = files_of(agent)
    refresh = refresh_of(setup, time.time() * 1000)
    return {
        "agent": agent,
        "seen": seen.session if seen else None,
        "setup": setup,
        "lines": [(line, sentence(line.reason)) for line in lines.lines],
        "window": lines.window,
        "traces": _traces(lines),
        "costs": costs,
        "tools": tool_rows(agent),
        "total": total_of(costs, lines.window),
        "encoding": exact.encoding_for(agent.model),
        "warnings": prompt.warnings,
        "left_out": prompt.left_out,
        "files": [
            (name, len(text.encode()), _record(prompt, name)) for name, text in files.items()
        ],
        "open_file": file_name,
        "open_text": mask(files.get(file_name or "", "")),
        "refresh": refresh,
        "refresh_note": REFRESH_REASONS.get(refresh.reason, refresh.reason),
        "summarisers": summariser_rows(agent),
        "has_worker": has_worker(),
        "sessions": agent.sessions.order_by("-last_at", "-pk")[:SHOWN_SESSIONS],
        "session_count": agent.sessions.count(),
        "memory_count": agent.memory_files.count(),
    }


def seen_of(agent: Agent) -> Situation | None:
    """The newest session that tells which model an imported agent runs; none without one."""
    newest = agent.sessions.exclude(model="").select_related("agent").order_by("-last_at", "-pk")
    session = newest.first()
    return situation_of(session) if session is not None and session.windows.exists() else None


@dataclass(frozen=True, slots=True)
class SummariserRow:
    """Who writes an agent's summaries or notes (``writes``): ``connection`` is the team's model, none for
    one that works in this process; ``problem``: why the name means nothing; ``test`` is the newest."""

    writes: str
    name: str
    connection: ModelConnection | None
    problem: str
    test: Job | None

    @property
    def address(self) -> str:
        return address(self.connection.base_url) if self.connection else ""


def summariser_rows(agent: Agent) -> list[SummariserRow]:
    """The summarisers of an agent, each once."""
    chosen: dict[str, list[str]] = {}
    chosen.setdefault(agent.compaction_summariser, []).append("summaries of compactions")
    chosen.setdefault(agent.flush_summariser, []).append("notes of memory flushes")
    names = ModelConnection.objects.filter(team=agent.team_id, name__in=chosen)
    connections = {connection.name: connection for connection in names}
    known = choices(agent.team)
    rows = []
    for name, writes in chosen.items():
        found = connections.get(name)
        problem = "" if name in known else f"nobody knows it: {DEFAULT_SUMMARISER} stands in"
        test = last_test(found) if found else None
        rows.append(SummariserRow(", ".join(writes), name, found, problem, test))
    return rows


def cost_rows(agent: Agent, prompt: AgentPrompt, window: float) -> list[Cost]:
    """What every call carries besides the conversation, part by part, in the order of the prompt."""
    encoding = exact.encoding_for(agent.model)

    def cost(title: str, note: str, text: str, chars: int | None = None) -> Cost:
        size = js.utf16_len(text) if chars is None else chars
        tokens = tokens_of_chars(size)
        share = tokens / window if window > 0 else None
        return Cost(title, note, size, tokens, exact.count(text, encoding), share)

    rows = [
        cost(part.kind, "" if part.cacheable else "behind the cache boundary", part.text)
        for part in prompt.parts
    ]
    if agent.tools:
        text = "\n".join(map(js.json_text, agent.tools))
        count = len(agent.tools)
        note = f"{count} tool{'' if count == 1 else 's'} with their schemas"
        rows.append(cost("tools", note, text, sum(map(tool_chars, agent.tools))))
    return rows


def total_of(costs: Iterable[Cost], window: float) -> Cost:
    """All parts together."""
    rows = list(costs)
    tokens = sum(row.tokens for row in rows)
    share = tokens / window if window > 0 else None
    exactly = sum(row.exact for row in rows)
    return Cost("every call", "", sum(row.chars for row in rows), tokens, exactly, share)


def tool_rows(agent: Agent) -> Sequence[tuple[str, int]]:
    """Each tool with the estimated tokens of its schema, the dearest first."""
    rows = [(str(tool.get("name", "")), tokens_of_chars(tool_chars(tool))) for tool in agent.tools]
    return sorted(rows, key=lambda row: -row[1])


def _record(prompt: AgentPrompt, name: str) -> tuple[FileRecord | None, str]:
    """How much of a file goes into the prompt; why not where none of it does."""
    record = next((r for r in prompt.records if r.name == name), None)
    if record is not None:
        return record, FILE_OUTCOMES[record.outcome]
    left = next((out.reason for out in prompt.left_out if out.name == name), None)
    return None, left.replace("_", " ") if left else "no room left"


def _traces(lines: Lines) -> Sequence[tuple[str, Any]]:
    return (
        ("Memory flush and preflight", lines.flush_window),
        ("Runs, pruning and compaction", lines.run_window),
        ("Status and reply", lines.reply_window),
    )
