"""The doctor for programs: an openclaw.json examined agent by agent; nothing of it is kept."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from ninja import Router

from compaction_app.doctor_forms import MOST_ENTRIES, add_entry
from compaction_app.doctor_json import report_json
from compaction_app.engine.doctor.ledger import Ledger
from compaction_app.engine.doctor.report import Configuration, agent_report, agents_of
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.engine.session_policy import agent_of_key
from compaction_app.runs import read_settings
from compaction_app.schemas import DoctorIn, DoctorOut
from sessions_app.api import PROBLEMS
from sessions_app.api_access import READ, InvalidField
from sessions_app.importers.index import Index, read_index

MOST_AGENTS: Final = 20

router = Router(by_alias=True)


@router.post("/doctor", auth=READ, response={200: DoctorOut, **PROBLEMS}, tags=["settings"])
def doctor(request: HttpRequest, payload: DoctorIn) -> dict[str, Any]:
    """Settings and their sources, windows and why they win, lines, findings, a corrected file, the rule sets
    side by side: of every agent that the file or the index names. Nothing is stored."""
    read = read_settings(payload.config)
    config = Configuration(payload.config, read.config, read.findings)
    rules = RULE_SETS.get(payload.rule_set, read.rules) if payload.rule_set else read.rules
    if payload.rule_set and payload.rule_set not in RULE_SETS:
        known = ", ".join(RULE_SETS)
        text = f"ruleSet: there is no {payload.rule_set[:50]!r}; known: {known}."
        raise InvalidField({"ruleSet": text})
    entries = _entries(payload.sessions)
    first, *others = agents_of(config.values)
    agent_of = {key: agent_of_key(known.key) or first for key, known in entries.items()}
    ledgers = {agent: Ledger() for agent in (first, *others, *agent_of.values())}
    wanted = _wanted(payload.agent, list(ledgers))
    for identity, known_as in list(entries.items())[:MOST_ENTRIES]:
        agent = agent_of[identity]
        if agent in wanted:
            add_entry(ledgers[agent], config, agent, rules, known_as.entry)
    reports = [agent_report(config, agent, rules, ledgers[agent]) for agent in wanted]
    return {
        "agents": [report_json(report, ()) for report in reports],
        "entries": len(entries),
        "examined_entries": min(len(entries), MOST_ENTRIES),
    }


def _entries(text: str | None) -> Any:
    index = read_index(text.encode("utf-8", "replace")) if text is not None else Index({})
    if index.problems:
        raise InvalidField({"sessions": index.problems[0].message})
    return index.by_session_id


def _wanted(agent: str | None, known: list[str]) -> list[str]:
    if agent is not None and agent not in known:
        names = ", ".join(known[:MOST_AGENTS])[:500]
        text = f"agent: neither the file nor the index names {agent[:50]!r}; they name: {names}."
        raise InvalidField({"agent": text})
    if agent is None and len(known) > MOST_AGENTS:
        text = f"agent: there are {len(known)} agents, more than {MOST_AGENTS}; name the one to examine."
        raise InvalidField({"agent": text})
    return known if agent is None else [agent]
