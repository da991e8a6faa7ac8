"""Where engine and stored sessions meet: load, calculate, and nothing else."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any
from uuid import UUID

import numpy as np
from django.db import transaction

from compaction_app.agent_setup import agent_setup, prompt_of
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.diagnose import Finding, Subject, by_consequence, findings
from compaction_app.engine.diagnose.configuration import read_config
from compaction_app.engine.lines import Lines, lines_of
from compaction_app.engine.passed import Passed, passed_by
from compaction_app.engine.policy import Policy
from compaction_app.engine.pruning.cache_ttl_settings import SoftTrim
from compaction_app.engine.pruning.cache_ttl_trim import soft_trimmed
from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.replay_prunable import Trimmed
from compaction_app.engine.replay_pruned_calls import settings_of
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RuleSet
from compaction_app.engine.session_policy import (
    agent_of_key,
    prompt_tokens,
    rule_set_of,
    session_policy,
    system_tokens,
)
from compaction_app.engine.simulation.inputs import path_of_key
from compaction_app.engine.summary_sizes import AS_KNOWN, Measure, SummaryChoice
from compaction_app.lost import losses_for, losses_summary, read_along
from compaction_app.session_alerts import tell_of_changes
from compaction_app.summary_choice import extractive_tokens, kept_size, size_to_keep
from sessions_app.entries import window_of
from sessions_app.loaded import timeline_of
from sessions_app.models import Agent, Session, Window
from sessions_app.rows import entries_of_window, messages_of, storable_json
from sessions_app.tokens.pruner_chars import pruner_message_chars
from sessions_app.transcripts.columns import Ints
from sessions_app.transcripts.signs import SignReader, Signs, signs_from_json, signs_to_json
from sessions_app.transcripts.timeline import Timeline

KEPT_REPLAYS = 32
KEPT_WEIGHTS = 200_000


@dataclass(frozen=True, slots=True)
class Situation:
    """A session with what is known around it: its own policy, and the circumstances of its runs.

    ``faults`` are the findings about the configuration file itself.
    """

    session: Session
    window: Window
    policy: Policy
    around: Circumstances
    system_tokens: int | None
    faults: tuple[Finding, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with the configuration file, in words."""
        return tuple(fault.consequence for fault in self.faults)


_replays: OrderedDict[tuple[Any, ...], Replay] = OrderedDict()
_weights: dict[tuple[UUID, int, SoftTrim], int] = {}
_signs_kept: OrderedDict[tuple[UUID, int], Signs] = OrderedDict()
_lock = Lock()


def situation_of(session: Session) -> Situation:
    """From the configuration and the index entry that were found beside the transcript; that of a live
    session from its agent as it is now."""
    if session.is_live and session.agent is not None:
        return _live_situation(session, session.agent)
    index: Mapping[str, Any] = session.index_entry or {}
    text, window = _text(session), window_of(session)
    header = window.version if session.is_openclaw else None
    given = read_settings(text, session.runtime_version, header)
    faults = tuple(f for f in given.findings if f.severity != "info")
    known = session_policy(
        given.config, index, session.provider, session.model, given.rules, agent_id_of(session)
    )
    refused = tuple(Finding("CONFIG_INVALID", problem) for problem in known.problems)
    return Situation(
        session=session,
        window=window,
        policy=known.policy,
        around=replace(known.around, path=path_of_key(session.key)),
        system_tokens=system_tokens(index),
        faults=faults or refused,
    )


def _live_situation(session: Session, agent: Agent) -> Situation:
    own = agent_setup(agent)
    chars = prompt_of(own, session.key).chars
    return Situation(
        session=session,
        window=window_of(session),
        policy=own.policy,
        around=own.around,
        system_tokens=prompt_tokens(chars),
        faults=own.faults,
    )


def timeline_for(situation: Situation, leaf: int | None = None) -> Timeline:
    return timeline_of(situation.window, leaf)


def replay_for(
    situation: Situation,
    policy: Policy,
    around: Circumstances,
    leaf: int | None = None,
    summary: SummaryChoice = AS_KNOWN,
) -> Replay:
    """The what-if of a stored session; the last few answers are kept in memory."""
    window = situation.window
    key = (
        window.uuid, window.entry_count, leaf, policy, around.path, around.provider, around.model,
        around.rules.id, around.constants, _digest(around.config), situation.system_tokens, summary,
        (situation.session.summary.get("extractive") or {}).get("tokens"),
    )  # fmt: skip
    with _lock:
        if key in _replays:
            _replays.move_to_end(key)
            return _replays[key]
    grown = timeline_for(situation, leaf)
    trimmed = _trimmed(window, grown, policy, around)
    done = replay(
        grown,
        policy,
        around,
        situation.system_tokens,
        trimmed,
        summary,
        _extractive(situation, grown, leaf, summary),
        _passed(situation, grown),
    )
    with _lock:
        _replays[key] = done
        while len(_replays) > KEPT_REPLAYS:
            _replays.popitem(last=False)
    return done


def _extractive(
    situation: Situation, grown: Timeline, leaf: int | None, choice: SummaryChoice
) -> Measure | None:
    """How large the summariser without a model writes: texts are read only where that was asked for."""
    if choice.source == "extractive":
        return lambda: extractive_tokens(situation.window, grown, leaf)
    return kept_size(situation.session, situation.window)


def _passed(situation: Situation, grown: Timeline) -> Passed:
    """What the recording went through under its own settings."""
    session, around = situation.session, situation.around
    own = lines_of(situation.policy, around)
    return passed_by(grown, own, around.rules, same_rules=session.source == "openclaw")


def _digest(config: Mapping[str, Any]) -> int:
    """What tells one configuration from another in memory."""
    return hash(json.dumps(config, default=str))


def _trimmed(window: Window, grown: Timeline, policy: Policy, around: Circumstances) -> Trimmed:
    """Weighs trimmed results by their texts, which are loaded once for each size of a trim."""
    settings = settings_of(policy, around)
    trim = settings.soft_trim if settings else SoftTrim()
    chars = around.rules.pruning.cache_ttl.chars

    def weigh(rows: Ints) -> Ints:
        seqs = grown.branch[rows].tolist()
        with _lock:
            known = {seq: _weights.get((window.uuid, seq, trim)) for seq in seqs}
        missing = [seq for seq in seqs if known[seq] is None]
        for seq, message in messages_of(window, missing):
            shorter = soft_trimmed(message, trim, chars) or message
            known[seq] = pruner_message_chars(shorter, chars)
        with _lock:
            if len(_weights) > KEPT_WEIGHTS:
                _weights.clear()
            _weights.update({(window.uuid, seq, trim): known[seq] or 0 for seq in missing})
        return np.array([known[seq] or 0 for seq in seqs], np.int64)

    return weigh


def write_summary(session: Session) -> None:
    """The lines and the verdict that the list of sessions shows."""
    situation = situation_of(session)
    signs = signs_for(session, situation.window)
    lines = lines_of(situation.policy, situation.around)
    before = dict(session.summary)
    session.summary |= {
        "window": lines.window,
        "lines": {
            line.name: line.tokens
            for line in lines.lines
            if line.active
            and line.tokens > 0
            and line.name in ("flush", "inner_threshold", "window")
        },
        "verdict": [
            {
                "severity": f.severity,
                "text": f.code.replace("_", " ").lower(),
                "help": f.consequence,
            }
            for f in verdict_on(situation, situation.policy, situation.around, lines)
            if f.severity != "info"
        ],
        "losses": losses_summary(situation.window),
        "extractive": size_to_keep(situation.window, timeline_for(situation)),
        "signs": {
            "window": str(situation.window.uuid),
            "of": storable_json(signs_to_json(signs)),
        },
    }
    with transaction.atomic():
        session.save(update_fields=["summary"])
        tell_of_changes(session, before)


def verdict_on(
    situation: Situation,
    policy: Policy,
    around: Circumstances,
    lines: Lines,
    leaf: int | None = None,
) -> list[Finding]:
    """What there is to say of a session under a policy, its configuration's faults included."""
    subject = Subject(
        policy=policy,
        around=around,
        lines=lines,
        grown=timeline_for(situation, leaf),
        signs=signs_for(situation.session, situation.window),
        entry=situation.session.index_entry or None,
        losses=losses_for(situation.session, situation.window),
        has_config=bool(_text(situation.session))
        or situation.session.is_live
        or policy != situation.policy,
    )
    return by_consequence([*situation.faults, *findings(subject)])


def signs_for(session: Session, window: Window) -> Signs:
    """What the texts of a window tell; read are only those of entries that no import has read."""
    key = (window.uuid, window.entry_count)
    with _lock:
        if key in _signs_kept:
            _signs_kept.move_to_end(key)
            return _signs_kept[key]
    kept = session.summary.get("signs") or {}
    known = signs_from_json(kept.get("of")) if kept.get("window") == str(window.uuid) else None
    signs = known or Signs()
    if signs.seen < window.entry_count:
        reader = SignReader(signs)
        seen = read_along(window, reader.add, signs.seen)
        for entry in entries_of_window(window, seen) if seen < window.entry_count else ():
            reader.add(entry)
        signs = reader.signs()
    with _lock:
        _signs_kept[key] = signs
        while len(_signs_kept) > KEPT_REPLAYS:
            _signs_kept.popitem(last=False)
    return signs


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """An ``openclaw.json`` by the rules of the version that wrote it; empty for no text."""

    config: Mapping[str, Any]
    findings: tuple[Finding, ...]
    rules: RuleSet


@lru_cache(maxsize=KEPT_REPLAYS)
def read_settings(
    text: str, store_version: str = "", header_version: int | None = None
) -> ReadSettings:
    """Never raises; an unreadable file is an empty one with a finding. What a store or a transcript says
    of its version comes first (``rule_set_of``). The last few are kept in memory."""
    if not text:
        return ReadSettings({}, (), rule_set_of({}, store_version, header_version))
    said = read_config(text, DEFAULT_RULE_SET.config).config
    rules = rule_set_of(said, store_version, header_version)
    read = read_config(text, rules.config)
    return ReadSettings(read.config, read.findings, rules)


def config_fault(text: str) -> str:
    """Why the text of an ``openclaw.json`` cannot be read, and where; "" when it can."""
    return read_config(text, DEFAULT_RULE_SET.config).fault


def agent_id_of(session: Session) -> str:
    """The agent's id in the configuration: by the session's key, else by the agent's name."""
    return agent_of_key(session.key) or (session.agent.name if session.agent else "")


def _text(session: Session) -> str:
    return session.agent.config_text if session.agent else ""
