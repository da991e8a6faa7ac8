"""The API about agents: what they are, their policies by version, their files and memory."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from django.http import Http404, HttpRequest
from ninja import Router

from compaction_app.agent_setup import AgentSetup, agent_setup, prompt_of
from compaction_app.api import lines_out
from compaction_app.engine.lines import lines_of
from compaction_app.engine.policy import Policy, PolicyError
from compaction_app.engine.policy_config import config_changes
from compaction_app.live_schemas import (
    AgentFields,
    AgentIn,
    AgentOut,
    AgentPage,
    FilesIn,
    FilesOut,
    MemoryFilesOut,
    PolicyIn,
    PolicyOut,
    PolicyPage,
)
from compaction_app.memory_page import shown_memory
from compaction_app.models import MemoryFile, PolicyVersion
from compaction_app.policies import UnknownRuleSet, VersionMoved, newest_version, save_version
from compaction_app.runs import config_fault
from sessions_app.api import PROBLEMS
from sessions_app.api_access import ADMIN, READ, Conflict, InvalidField, load, owned, token_of
from sessions_app.hidden_secrets import restored
from sessions_app.idempotency import once
from sessions_app.masking import mask, mask_all
from sessions_app.models import Agent
from sessions_app.schemas import Problem
from sessions_app.tokens.message_tokens import tokens_of_chars
from sessions_app.workspace import BadFile, files_of, write_files

router = Router(tags=["agents"], by_alias=True)
CHANGES = {**PROBLEMS, 409: Problem}


@router.post("/agents", auth=ADMIN, response={200: AgentOut, **CHANGES})
def create_agent(request: HttpRequest, payload: AgentIn) -> dict[str, Any]:
    """A new agent of the team, whose sessions are fed through this API."""

    def work() -> dict[str, Any]:
        fields = _fields(payload)
        agent = Agent.objects.create(team=token_of(request).team, is_live=True, **fields)
        return agent_out(agent)

    return once(request, work)


@router.get("/agents", auth=READ, response={200: AgentPage, **PROBLEMS})
def list_agents(request: HttpRequest) -> dict[str, Any]:
    """The team's agents that are fed through this API."""
    found = owned(Agent.objects.filter(is_live=True), request).order_by("pk")
    return {"items": [agent_out(agent) for agent in found]}


@router.get("/agents/{uuid:agent_id}", auth=READ, response={200: AgentOut, **PROBLEMS})
def read_agent(request: HttpRequest, agent_id: UUID) -> dict[str, Any]:
    """One agent with what its system prompt weighs and where its lines lie."""
    return agent_out(_agent(request, agent_id))


@router.patch("/agents/{uuid:agent_id}", auth=ADMIN, response={200: AgentOut, **CHANGES})
def change_agent(request: HttpRequest, agent_id: UUID, payload: AgentFields) -> dict[str, Any]:
    """Change what is named; what is left out stays."""
    agent = _agent(request, agent_id)
    fields = _fields(payload)
    for name, value in fields.items():
        setattr(agent, name, restored(value, getattr(agent, name)))
    agent.save(update_fields=list(fields))
    return agent_out(agent)


@router.get("/agents/{uuid:agent_id}/policies", auth=READ, response={200: PolicyPage, **PROBLEMS}, tags=["policies"])  # fmt: skip
def list_policies(request: HttpRequest, agent_id: UUID) -> dict[str, Any]:
    """All versions of the agent's policy, newest first; none of them ever changes."""
    found = PolicyVersion.objects.filter(agent=_agent(request, agent_id)).select_related("author")
    return {"items": [policy_out(version) for version in found.order_by("-number")]}


@router.get("/agents/{uuid:agent_id}/policy", auth=READ, response={200: PolicyOut, **PROBLEMS}, tags=["policies"])  # fmt: skip
def read_policy(request: HttpRequest, agent_id: UUID) -> dict[str, Any]:
    """The version in force; version 0 sets nothing, then only the configuration counts."""
    setup = agent_setup(_agent(request, agent_id))
    if setup.version is not None:
        return policy_out(setup.version)
    nothing: dict[str, Any] = {"settings": {}, "note": "", "author": None, "created_at": None}
    return {"version": 0, "rule_set": setup.around.rules.id, **nothing}


@router.put("/agents/{uuid:agent_id}/policy", auth=ADMIN, response={200: PolicyOut, **CHANGES}, tags=["policies"])  # fmt: skip
def save_policy(request: HttpRequest, agent_id: UUID, payload: PolicyIn) -> dict[str, Any]:
    """A new version with exactly these explicit settings."""
    agent = _agent(request, agent_id)
    kept = newest_version(agent)
    settings = {k: tuple(v) if isinstance(v, list) else v for k, v in payload.settings.items()}
    chosen = {"rule_set": payload.rule_set or (kept.rule_set if kept else "")}
    try:
        version = save_version(
            agent,
            settings,
            **{name: value for name, value in chosen.items() if value},
            author=token_of(request).user,
            note=payload.note,
            expected=payload.expected_version,
        )
    except PolicyError as error:
        found = {f"settings.{key}": text for key, text in error.problems.items()}
        raise InvalidField(found) from error
    except UnknownRuleSet as error:
        raise InvalidField({"ruleSet": f"ruleSet: {error}"}) from error
    except VersionMoved as error:
        raise Conflict(str(error), newestVersion=error.newest) from error
    return policy_out(version)


@router.get("/agents/{uuid:agent_id}/config", auth=READ, response={200: dict[str, Any], **PROBLEMS}, tags=["settings"])  # fmt: skip
def export_config(request: HttpRequest, agent_id: UUID) -> dict[str, Any]:
    """The policy in force as openclaw.json spells it: the settings that are no defaults."""
    setup = agent_setup(_agent(request, agent_id))
    changed = config_changes(setup.policy, (Policy(),), setup.around.provider, setup.around.model)
    found: dict[str, Any] = json.loads(json.dumps(changed))
    return found


@router.get("/agents/{uuid:agent_id}/workspace", auth=READ, response={200: FilesOut, **PROBLEMS})
def read_workspace(request: HttpRequest, agent_id: UUID) -> dict[str, Any]:
    """The workspace files as they are now."""
    files = files_of(_agent(request, agent_id))
    return {"files": {name: mask(text) for name, text in files.items()}}


@router.patch("/agents/{uuid:agent_id}/workspace", auth=ADMIN, response={200: FilesOut, **CHANGES})
def write_workspace(request: HttpRequest, agent_id: UUID, payload: FilesIn) -> dict[str, Any]:
    """Write the named files, take away those given as null; the others stay."""
    agent = _agent(request, agent_id)
    before = files_of(agent)
    given = {name: restored(text, before.get(name, "")) for name, text in payload.files.items()}
    try:
        write_files(agent, given)
    except BadFile as error:
        raise InvalidField({"files": str(error)}) from error
    return {"files": {name: mask(text) for name, text in files_of(agent).items()}}


@router.get("/agents/{uuid:agent_id}/memory", auth=READ, response={200: MemoryFilesOut, **PROBLEMS}, tags=["memory"])  # fmt: skip
def list_memory(request: HttpRequest, agent_id: UUID) -> dict[str, Any]:
    """The files that memory flushes have written."""
    found = MemoryFile.objects.filter(agent=_agent(request, agent_id)).order_by("name")
    return {"files": [{"name": f.name, "bytes": f.size, "changed_at": f.changed_at} for f in found]}


@router.get("/agents/{uuid:agent_id}/memory/{path:name}", auth=READ, response={200: str, **PROBLEMS}, tags=["memory"])  # fmt: skip
def read_memory(request: HttpRequest, agent_id: UUID, name: str) -> str:
    """The text of one memory file."""
    file = MemoryFile.objects.filter(agent=_agent(request, agent_id), name=name).first()
    if file is None:
        raise Http404("The agent has no such memory file.")
    return shown_memory(file)


def agent_out(agent: Agent) -> dict[str, Any]:
    setup = agent_setup(agent)
    own = [n for n in AgentFields.model_fields if n != "config_text"]
    return {
        "id": agent.uuid,
        "created_at": agent.created_at,
        **{name: mask_all(getattr(agent, name)) for name in own},
        **_weighed(setup),
    }


def policy_out(version: PolicyVersion) -> dict[str, Any]:
    return {
        "version": version.number,
        "author": version.author.get_username() if version.author else None,
        **{n: getattr(version, n) for n in ("settings", "rule_set", "note", "created_at")},
    }


def _weighed(setup: AgentSetup) -> dict[str, Any]:
    return {
        "rule_set": setup.around.rules.id,
        "policy_version": setup.version.number if setup.version else 0,
        "system_tokens": tokens_of_chars(prompt_of(setup).chars),
        "lines": lines_out(lines_of(setup.policy, setup.around)),
    }


def _agent(request: HttpRequest, agent_id: UUID) -> Agent:
    return load(Agent.objects.filter(is_live=True), request, agent_id)


def _fields(payload: AgentFields) -> dict[str, Any]:
    """What was sent, as the row keeps it.

    Raises:
        InvalidField: for a time zone, a window or a configuration that cannot be used.
    """
    sent = payload.model_dump(exclude_unset=True, exclude_none=True)
    problems: dict[str, str] = {}
    if "time_zone" in sent and sent["time_zone"] not in available_timezones():
        text = f"timeZone: there is no {sent['time_zone']!r}; a name such as Europe/Vienna."
        problems["timeZone"] = text
    for name, tokens in sent.get("windows", {}).items():
        if tokens <= 0:
            problems[f"windows.{name}"] = f"windows.{name}: must be more than 0 tokens."
    if fault := config_fault(sent.get("config_text", "")) if sent.get("config_text") else "":
        problems["configText"] = fault
    for name in ("name", "provider", "model", "system_prompt"):
        if name in sent:
            sent[name] = sent[name].replace("\x00", "")
    if problems:
        raise InvalidField(problems)
    return sent
