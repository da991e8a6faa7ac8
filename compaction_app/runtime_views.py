"""The runtime's own views of a session: ``/context``, ``/status``, ``/usage tokens``, in its words.

They are made of the entry that the runtime keeps of the session. Where none was found beside the
transcript, what the recording shows stands in: the last call's usage, compactions, the last moment.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.agent_setup import agent_setup, prompt_of
from compaction_app.engine.calibration import weigh
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.composition.bootstrap_limits import bootstrap_limits
from compaction_app.engine.composition.bootstrap_report import FileStats
from compaction_app.engine.composition.context_reply import context_mode, context_reply
from compaction_app.engine.composition.prompt_report import ReportedRun, prompt_report
from compaction_app.engine.composition.report_order import in_order
from compaction_app.engine.composition.status_reply import (
    facts_of_entry,
    status_reply,
    usage_line,
)
from compaction_app.engine.lines import lines_of
from compaction_app.engine.policy import Policy
from compaction_app.engine.session_policy import agent_of_key, rule_set_of, session_policy
from compaction_app.engine.simulation.inputs import SessionFiles
from compaction_app.runs import Situation, timeline_for
from sessions_app.models import Agent
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.columns import UNKNOWN

COMMANDS: Final = (
    "/context list", "/context detail", "/context map", "/context json", "/status", "/usage tokens",
)  # fmt: skip
NO_REPORT: Final = (
    "Context breakdown: unknown.\nThe runtime’s report of this session’s system prompt was not found: "
    "it is kept in sessions.json or in the agent’s store, beside the transcript."
)
OVERHEAD: Final = (
    "What was billed beyond the messages shows about {tokens:,} tokens of system prompt and tools."
)
NO_USAGE: Final = "Usage: unknown. No call of this session reported any."
UNKNOWN_COMMAND: Final = "Unknown command. Known: {known}."


@dataclass(frozen=True, slots=True)
class RuntimeSession:
    """What the views are made of.

    ``entry`` is the session's entry, or what stands in for it. ``context_tokens`` is the window that
    status pages resolve; ``estimate`` a report made now, ``overhead`` the tokens that bills show beyond
    the messages, 0 for unknown.
    """

    key: str
    version: str
    model: str
    entry: Mapping[str, Any]
    context_tokens: float | None
    estimate: Mapping[str, Any] | None = None
    overhead: int = 0


def runtime_session(situation: Situation) -> RuntimeSession:
    """A stored session as the runtime knows it."""
    session, grown = situation.session, timeline_for(situation)
    rows, usage = grown.columns, {}
    if grown.calls and grown.billed_prompt[-1] != UNKNOWN:
        place = int(grown.place[-1])
        usage = {"input": int(rows.usage_input[place]), "output": int(grown.output[-1])}
        usage["total"] = int(grown.billed_prompt[-1])
    known = rows.at_ms[rows.at_ms != UNKNOWN]
    shown = _stand_in(usage, len(grown.compactions.place), int(known.max()) if len(known) else None)
    live = session.agent if session.is_live else None
    return RuntimeSession(
        key=session.key,
        version=session.runtime_version or situation.around.rules.runtime_version,
        model=_model(session.provider, session.model),
        entry={**shown, **_told(session.index_entry)},
        context_tokens=_window(situation.policy, situation.around),
        estimate=estimated_report(live, session.key) if live else None,
        overhead=max(0, round(weigh(grown).calibration.overhead)),
    )


def session_of_files(files: SessionFiles) -> RuntimeSession:
    """The same of a session in files."""
    rules = rule_set_of(files.config)
    usage: dict[str, Any] = {}
    provider = model = ""
    compactions, last = 0, None
    for entry in (entry for transcript in files.transcripts for entry in transcript.entries):
        compactions += entry.type == "compaction"
        last = entry.timestamp_ms if entry.timestamp_ms is not None else last
        message = entry.message
        if entry.role == "assistant" and isinstance(message.get("usage"), Mapping):
            usage = _usage(message["usage"]) or usage
            provider = str(message.get("provider") or provider)
            model = str(message.get("model") or model)
    known = session_policy(
        files.config, files.index, provider, model, rules, agent_of_key(files.key)
    )
    around = known.around
    return RuntimeSession(
        key=files.key,
        version=rules.runtime_version,
        model=_model(around.provider, around.model),
        entry={**_stand_in(usage, compactions, last), **_told(files.index)},
        context_tokens=_window(known.policy, around),
    )


def reply(command: str, session: RuntimeSession, now_ms: float | None = None) -> str:
    """What the runtime answers to a command, but for what it tells of other things than context."""
    words = command.split()
    name = words[0].lower().lstrip("/") if words else ""
    if name == "status":
        now = time.time() * 1000 if now_ms is None else now_ms
        facts = facts_of_entry(
            session.entry,
            version=session.version,
            model=session.model,
            key=session.key,
            context_tokens=session.context_tokens,
        )
        return status_reply(facts, now)
    if name == "usage":
        return _usage_reply(session)
    if name == "context":
        return _context_reply(command, session)
    return UNKNOWN_COMMAND.format(known=", ".join(COMMANDS))


def estimated_report(agent: Agent, key: str) -> dict[str, Any]:
    """The report of the prompt that a live agent's next call would have."""
    setup = agent_setup(agent)
    prompt = prompt_of(setup, key)
    limits = bootstrap_limits(setup.around.config, None, setup.around.rules.composition.limits)
    files = [
        FileStats(
            record.name,
            record.name,
            record.outcome == "missing",
            record.raw_chars,
            record.injected_chars,
            record.outcome == "truncated",
        )
        for record in prompt.records
    ]
    run = ReportedRun(
        provider=setup.around.provider or None,
        model=setup.around.model or None,
        max_chars=int(limits.max_chars),
        total_max_chars=int(limits.total_max_chars),
        source="estimate",
    )
    skills = next((part.text for part in prompt.parts if part.kind == "skills"), "")
    return prompt_report(run, prompt.text, skills, files, agent.tools)


def _context_reply(command: str, session: RuntimeSession) -> str:
    text = command if command.startswith("/") else f"/{command}"
    try:
        return context_reply(text, session.entry, session.context_tokens, session.estimate)
    except LookupError:
        more = OVERHEAD.format(tokens=session.overhead) if session.overhead else ""
        if context_mode(text) == "json":
            unknown = {"report": None, "session": {"contextTokens": session.context_tokens}}
            return js.json_text(unknown)
        return "\n".join(filter(None, (NO_REPORT, more)))


def _usage_reply(session: RuntimeSession) -> str:
    entry = session.entry
    tokens = [entry.get(name) for name in ("inputTokens", "outputTokens")]
    given, made = (value if js.is_finite(value) else None for value in tokens)
    return usage_line(given, made) or NO_USAGE


def _stand_in(usage: Mapping[str, Any], compactions: int, last_ms: int | None) -> dict[str, Any]:
    found = {
        "totalTokens": usage.get("total"),
        "inputTokens": usage.get("input"),
        "outputTokens": usage.get("output"),
        "updatedAt": last_ms,
    }
    known = {name: value for name, value in found.items() if value is not None}
    return {"compactionCount": compactions, **known}


def _told(entry: Mapping[str, Any] | None) -> dict[str, Any]:
    told = {name: value for name, value in (entry or {}).items() if value is not None}
    if "systemPromptReport" in told:
        told["systemPromptReport"] = in_order(told["systemPromptReport"])
    return told


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    parts = [usage.get(name) for name in ("input", "cacheRead", "cacheWrite")]
    prompt = sum(part for part in parts if js.is_finite(part))
    if not prompt:
        return {}
    return {"input": usage.get("input"), "output": usage.get("output"), "total": prompt}


def _model(provider: str, model: str) -> str:
    return f"{provider}/{model}" if provider and model else model


def _window(policy: Policy, around: Circumstances) -> float | None:
    return lines_of(policy, around).reply_window.tokens
