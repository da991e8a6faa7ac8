"""What stands in front of the messages of a call: the parts of the system prompt, and the tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from compaction_app.agent_page import cost_rows
from compaction_app.agent_setup import agent_setup, texts_of
from compaction_app.engine.composition.agent_prompt import agent_prompt
from compaction_app.engine.composition.context_reply import stored_report
from compaction_app.engine.config_value import value_at
from compaction_app.engine.lines import lines_of
from compaction_app.runs import Situation
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import tokens_of_chars
from sessions_app.workspace import files_at, snapshot_of_call

Known = Literal["agent", "agent now", "report", "bills", "nothing"]
MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class SystemPart:
    """A part; ``raw`` is a file's size before it was cut, none for what is no file. Sizes in characters,
    none where unknown; ``exact`` tokens where the text is at hand."""

    title: str
    chars: int | None
    tokens: int | None
    exact: int | None = None
    raw: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class SystemSide:
    """The parts, and how they are known.

    ``agent``: as the agent was at the call. ``agent now``: as it is now, for nothing older was kept.
    ``report``: told by the runtime's report of its last run. ``bills``: unknown but for what the
    provider billed beyond the messages. ``nothing``: unknown.
    """

    known: Known
    parts: tuple[SystemPart, ...]

    @property
    def tokens(self) -> int | None:
        if self.known == "nothing":
            return None
        return sum(part.tokens or 0 for part in self.parts)


def system_side(situation: Situation, seq: int, overhead_tokens: int) -> SystemSide:
    """What entry ``seq``, the answer of a call, had in front of its messages.

    ``overhead_tokens``: what the session's bills show beyond its messages, 0 for unknown.
    """
    session = situation.session
    if session.is_live and session.agent is not None:
        return _of_agent(situation, seq)
    report = stored_report(session.index_entry or {})
    if report is not None:
        return SystemSide("report", tuple(_reported(report)))
    if overhead_tokens:
        note = "unknown; what the bills show beyond the messages"
        whole = SystemPart("system prompt and tools", None, overhead_tokens, note=note)
        return SystemSide("bills", (whole,))
    return SystemSide(
        "nothing", (SystemPart("system prompt and tools", None, None, note="unknown"),)
    )


def _of_agent(situation: Situation, seq: int) -> SystemSide:
    agent = situation.session.agent
    assert agent is not None
    setup = agent_setup(agent)
    snapshot = snapshot_of_call(situation.window, seq)
    texts = texts_of(agent)
    if snapshot is not None:
        texts = replace(texts, files=files_at(snapshot))
    prompt = agent_prompt(texts, setup.around.config, setup.around.rules, situation.session.key)
    rows = cost_rows(agent, prompt, lines_of(setup.policy, setup.around).window)
    parts = [SystemPart(r.title, r.chars, r.tokens, r.exact, note=r.note) for r in rows]
    return SystemSide("agent" if snapshot else "agent now", tuple(parts))


def _reported(report: Mapping[str, Any]) -> Iterator[SystemPart]:
    """Files, skills, the rest of the prompt, and each tool's schema, by the runtime's own report."""
    whole = _size(report, "systemPrompt", "chars")
    files = [_file(item) for item in _items(report, "injectedWorkspaceFiles")]
    skills = _size(report, "skills", "promptChars")
    listed = sum(part.chars or 0 for part in files) + (skills or 0)
    if whole is not None:
        title = "the rest of the system prompt" if listed else "system prompt"
        yield _part(title, max(0, whole - listed))
    yield from files
    if skills:
        yield _part("skills list", skills, f"{len(_items(report, 'skills', 'entries'))} skills")
    for tool in _items(report, "tools", "entries"):
        yield _part(f"tool {_name(tool)}", _size(tool, "schemaChars"), "schema")


def _file(item: Any) -> SystemPart:
    if value_at(item, "missing"):
        return SystemPart(_name(item), 0, 0, raw=0, note="missing")
    note = "truncated" if value_at(item, "truncated") else ""
    return replace(
        _part(_name(item), _size(item, "injectedChars"), note), raw=_size(item, "rawChars")
    )


def _part(title: str, chars: int | None, note: str = "") -> SystemPart:
    return SystemPart(title, chars, None if chars is None else tokens_of_chars(chars), note=note)


def _name(item: Any) -> str:
    name = value_at(item, "name")
    return name[:200] if isinstance(name, str) else "(unnamed)"


def _items(report: Any, *path: str) -> Sequence[Any]:
    found = value_at(report, *path)
    return found[:MOST_ROWS] if isinstance(found, list) else []


def _size(report: Any, *path: str) -> int | None:
    size = value_at(report, *path)
    return int(size) if js.is_finite(size) and size >= 0 else None
