"""The API about what decides: what-if, verdict, decisions, configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Query, Router

from compaction_app.decisions import stage_of
from compaction_app.engine.cache_breaks import CAUSES, CacheBreaks, recorded_breaks
from compaction_app.engine.calibration import weigh
from compaction_app.engine.diagnose import Finding
from compaction_app.engine.diagnose.configuration import read_config
from compaction_app.engine.lines import Lines, lines_of
from compaction_app.engine.policy import BY_KEY
from compaction_app.engine.reasons import sentence
from compaction_app.engine.replay import Totals
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RULE_SETS
from compaction_app.engine.turn.record import StageRecord
from compaction_app.forms import Query as Asked
from compaction_app.forms import policy_text, read_query
from compaction_app.lost import cycles_for, shown_cycle
from compaction_app.models import Decision
from compaction_app.recorded import recorded_totals
from compaction_app.runs import Situation, replay_for, situation_of, timeline_for, verdict_on
from compaction_app.schemas import (
    ConfigIn,
    DecisionOut,
    DecisionPage,
    EventOut,
    FindingsOut,
    RetentionOut,
    TotalsOut,
    WhatIfIn,
    WhatIfOut,
)
from compaction_app.summary_choice import SOURCE as SUMMARY_SOURCE
from compaction_app.summary_choice import TOKENS as SUMMARY_TOKENS
from sessions_app.api import NO_NUL, PROBLEMS, Cursor, Limit, known
from sessions_app.api_access import READ, InvalidField, load, token_of
from sessions_app.entries import window_of
from sessions_app.hidden_secrets import showing
from sessions_app.models import Session

router = Router(by_alias=True)
CAVEAT = "The model's answers stay those of the recording: what it would have answered to another context nobody can know."  # fmt: skip
Word = Annotated[str, Query(max_length=80, pattern=NO_NUL)]


@router.post("/sessions/{uuid:session_id}/what-if", auth=READ, response={200: WhatIfOut, **PROBLEMS}, tags=["what-if"])  # fmt: skip
def what_if(request: HttpRequest, session_id: UUID, payload: WhatIfIn) -> dict[str, Any]:
    """The session again under other settings, its decisions taking effect. Nothing is stored."""
    situation = _situation(request, session_id)
    asked = _asked(payload, situation)
    grown = timeline_for(situation, asked.leaf)
    now = replay_for(situation, situation.policy, situation.around, asked.leaf, asked.summary)
    done = replay_for(situation, asked.policy, asked.around, asked.leaf, asked.summary)
    recorded = recorded_breaks(grown, weigh(grown))
    return {
        "reading": "what-if",
        "rule_set": asked.around.rules.id,
        "path": asked.around.path,
        "lines": lines_out(done.lines),
        "prompt": known(done.prompt),
        "total": known(done.total),
        "events": [
            {name: getattr(event, name) for name in EventOut.model_fields} for event in done.events
        ],
        "recorded": _totals(recorded_totals(grown)),
        "current": _totals(now.totals),
        "what_if": _totals(done.totals),
        "cache_breaks": _breaks(done.breaks),
        "recorded_cache_breaks": _breaks(recorded) if recorded else None,
        "stripped": done.stripped,
        "summaries": {"source": done.summaries.source, "tokens": done.summary_tokens},
        "margin": {"prompt": done.margin.prompt, "check": done.margin.check},
        "caveat": CAVEAT,
    }


@router.get("/sessions/{uuid:session_id}/diagnose", auth=READ, response={200: FindingsOut, **PROBLEMS}, tags=["verdict"])  # fmt: skip
def diagnose(request: HttpRequest, session_id: UUID) -> dict[str, Any]:
    """What is wrong with a session and its settings, the gravest first."""
    situation = _situation(request, session_id)
    lines = lines_of(situation.policy, situation.around)
    found = verdict_on(situation, situation.policy, situation.around, lines)
    return {"findings": [finding_out(finding) for finding in found]}


@router.get("/sessions/{uuid:session_id}/retention", auth=READ, response={200: RetentionOut, **PROBLEMS}, tags=["retention"])  # fmt: skip
def read_retention(request: HttpRequest, session_id: UUID, limit: Limit = 50) -> dict[str, Any]:
    """What each recorded compaction lost, and where the rest survived; at most ``limit`` lost ones are listed."""
    session = load(Session.objects.all(), request, session_id)
    return {"compactions": [shown_cycle(c, limit) for c in cycles_for(window_of(session))]}


@router.post("/config/validate", auth=READ, response={200: FindingsOut, **PROBLEMS}, tags=["settings"])  # fmt: skip
def validate_config(request: HttpRequest, payload: ConfigIn) -> dict[str, Any]:
    """Whether the runtime takes this openclaw.json; no findings means that it does."""
    rules = DEFAULT_RULE_SET
    if payload.rule_set is not None:
        rules = RULE_SETS.get(payload.rule_set) or _unknown("ruleSet", payload.rule_set, RULE_SETS)
    found = read_config(payload.text, rules.config).findings
    return {"findings": [finding_out(finding) for finding in found]}


@router.get("/sessions/{uuid:session_id}/decisions", auth=READ, response={200: DecisionPage, **PROBLEMS}, tags=["decisions"])  # fmt: skip
def list_decisions(
    request: HttpRequest,
    session_id: UUID,
    kind: Word = "",
    outcome: Word = "",
    reason: Word = "",
    after: Cursor = None,
    limit: Limit = 50,
) -> dict[str, Any]:
    """The stored decisions of a session in their order, also of rules that did not fire."""
    session = load(Session.objects.all(), request, session_id)
    wanted = {"rule": kind, "outcome": outcome, "reason": reason}
    found = Decision.objects.filter(session=session, **{k: v for k, v in wanted.items() if v})
    if after is not None:
        found = found.filter(pk__gt=after)
    rows = list(found.select_related("session").order_by("pk")[: limit + 1])
    return {
        "items": [decision_out(row) for row in rows[:limit]],
        "next": rows[limit - 1].pk if len(rows) > limit else None,
    }


@router.get("/decisions/{uuid:decision_id}", auth=READ, response={200: DecisionOut, **PROBLEMS}, tags=["decisions"])  # fmt: skip
def read_decision(request: HttpRequest, decision_id: UUID) -> dict[str, Any]:
    """One decision with its inputs and its arithmetic."""
    mine = Decision.objects.filter(session__team=token_of(request).team)
    row = mine.select_related("session").filter(uuid=decision_id).first()
    if row is None:
        raise Http404("No such decision.")
    showing(row.session)
    return decision_out(row)


def lines_out(lines: Lines) -> list[dict[str, Any]]:
    return [
        {
            **{name: getattr(line, name) for name in ("name", "title", "tokens", "unit", "active", "reason")},
            "help": sentence(line.reason),
        }
        for line in lines.lines
    ]  # fmt: skip


def finding_out(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "line": finding.line,
        "numbers": dict(finding.numbers),
        "consequence": finding.consequence,
        "fix": dict(finding.fix),
    }


def decision_out(row: Decision) -> dict[str, Any]:
    kept = {name: getattr(row, name) for name in ("reading", "turn", "created_at")}
    return {"id": row.uuid, "session": row.session.uuid, **kept, **stage_out(stage_of(row))}


def stage_out(stage: StageRecord) -> dict[str, Any]:
    """A decision where it was made."""
    decision = stage.decision
    return {
        **{name: getattr(stage, name) for name in ("run", "attempt", "call", "stage")},
        "kind": decision.rule,
        **{n: getattr(decision, n) for n in ("fired", "outcome", "reason", "rule_set")},
        "inputs": dict(decision.inputs),
        "steps": [
            {name: getattr(step, name) for name in ("name", "formula", "value", "unit")}
            for step in decision.steps
        ],
    }


def _situation(request: HttpRequest, session_id: UUID) -> Situation:
    return situation_of(load(Session.objects.select_related("agent"), request, session_id))


def _asked(payload: WhatIfIn, situation: Situation) -> Asked:
    """The body as the page's address would say it, so that both are read by the same rules."""
    unknown = {
        key: f"{key}: there is no such setting." for key in payload.policy if key not in BY_KEY
    }
    if unknown:
        raise InvalidField({f"policy.{key}": text for key, text in unknown.items()})
    values = {key: policy_text(value) for key, value in payload.policy.items()}
    around = {
        "rules": payload.rule_set,
        "path": payload.path,
        "provider": payload.provider,
        SUMMARY_SOURCE: payload.summary,
    }
    values |= {name: value for name, value in around.items() if value is not None}
    numbers = {"leaf": payload.leaf, SUMMARY_TOKENS: payload.summary_tokens}
    values |= {name: str(value) for name, value in numbers.items() if value is not None}
    asked = read_query(values, situation)
    if asked.problems:
        names = {"rules": "ruleSet", "path": "path"}
        raise InvalidField(
            {names.get(key, f"policy.{key}"): text for key, text in asked.problems.items()}
        )
    return asked


def _totals(totals: Totals) -> dict[str, Any]:
    return {name: getattr(totals, name) for name in TotalsOut.model_fields}


def _breaks(breaks: CacheBreaks) -> list[dict[str, Any]]:
    columns = (breaks.call + 1, breaks.tokens, breaks.cause)
    return [
        {"call": call, "tokens": tokens, "cause": CAUSES[cause]}
        for call, tokens, cause in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _unknown(field: str, value: str, known_values: Mapping[str, Any]) -> Any:
    text = f"{field}: there is no {value[:50]!r}; known: {', '.join(known_values)}."
    raise InvalidField({field: text})
