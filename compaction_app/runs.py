"""Where engine and stored sessions meet: load, calculate, and nothing else."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import UUID

import numpy as np

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.config.syntax import ConfigSyntaxError, parse_config
from compaction_app.engine.config.validate import Issue, validate_config
from compaction_app.engine.diagnose import findings
from compaction_app.engine.lines import lines_of
from compaction_app.engine.policy import Policy, PolicyError, with_changes
from compaction_app.engine.policy_config import policy_from_config
from compaction_app.engine.pruning.cache_ttl_settings import SoftTrim
from compaction_app.engine.pruning.cache_ttl_trim import soft_trimmed
from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.replay_prunable import Trimmed
from compaction_app.engine.replay_pruned_calls import settings_of
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET
from sessions_app.columns import Ints
from sessions_app.entries import window_of
from sessions_app.loaded import timeline_of
from sessions_app.models import Session, Window
from sessions_app.rows import messages_of
from sessions_app.timeline import Timeline
from sessions_app.tokens import javascript as js
from sessions_app.tokens.pruner_chars import pruner_message_chars

KEPT_REPLAYS = 32
KEPT_WEIGHTS = 200_000
MAX_ISSUES = 10
CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Situation:
    """A session with what is known around it: its own policy, and the circumstances of its runs."""

    session: Session
    window: Window
    policy: Policy
    around: Circumstances
    system_tokens: int | None
    notes: tuple[str, ...]


_replays: OrderedDict[tuple[Any, ...], Replay] = OrderedDict()
_weights: dict[tuple[UUID, int, SoftTrim], int] = {}
_lock = Lock()


def situation_of(session: Session) -> Situation:
    """From the configuration and the index entry that were found beside the transcript."""
    index: Mapping[str, Any] = session.index_entry or {}
    provider = session.provider or str(index.get("modelProvider") or "")
    model = session.model or str(index.get("model") or "")
    config, notes = _config(session)
    read = policy_from_config(config, provider, model)
    policy = read.policy
    window = index.get("contextTokens")
    if policy.context_window is None and js.is_finite(window):
        with suppress(PolicyError):  # a value that no window can have says nothing
            policy = with_changes(policy, {"contextWindow": window})
    return Situation(
        session=session,
        window=window_of(session),
        policy=policy,
        around=Circumstances(provider=provider, model=model, config=config),
        system_tokens=_system_tokens(index),
        notes=notes or read.problems,
    )


def timeline_for(situation: Situation, leaf: int | None = None) -> Timeline:
    return timeline_of(situation.window, leaf)


def replay_for(
    situation: Situation, policy: Policy, around: Circumstances, leaf: int | None = None
) -> Replay:
    """The what-if of a stored session; the last few answers are kept in memory."""
    window = situation.window
    key = (
        window.uuid, window.entry_count, leaf, policy, around.path, around.provider, around.model,
        around.rules.id, around.constants, hash(_text(situation.session)), situation.system_tokens,
    )  # fmt: skip
    with _lock:
        if key in _replays:
            _replays.move_to_end(key)
            return _replays[key]
    grown = timeline_for(situation, leaf)
    trimmed = _trimmed(window, grown, policy, around)
    done = replay(grown, policy, around, situation.system_tokens, trimmed)
    with _lock:
        _replays[key] = done
        while len(_replays) > KEPT_REPLAYS:
            _replays.popitem(last=False)
    return done


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
    grown = timeline_for(situation)
    lines = lines_of(situation.policy, situation.around)
    session.summary = {
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
            for f in findings(grown, situation.policy, lines)
            if f.code != "USAGE_MISSING"
        ],
    }
    session.save(update_fields=["summary"])


def config_fault(text: str) -> str:
    """What is wrong with the text of an ``openclaw.json`` and where, "" when nothing is."""
    return _read_config(text)[1]


def _read_config(text: str) -> tuple[Mapping[str, Any], str]:
    """The configuration in a text, and what is wrong with it; the message quotes no value."""
    try:
        value = parse_config(text)
    except ConfigSyntaxError as error:
        return {}, f"openclaw.json is not valid JSON5: {error}."
    if not isinstance(value, dict):
        return {}, "openclaw.json holds no object."
    return value, ""


def _config(session: Session) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The configuration, and what makes the runtime refuse it as a whole (spec budgets 8.2)."""
    text = _text(session)
    config, fault = _read_config(text) if text else ({}, "")
    if fault or not text:
        return config, (fault,) if fault else ()
    issues = validate_config(config, DEFAULT_RULE_SET.config)
    return config, tuple(map(_issue_text, issues[:MAX_ISSUES]))


def _issue_text(issue: Issue) -> str:
    nearest = [f"did you mean {key.nearest!r}?" for key in issue.unknown_keys if key.nearest]
    where = issue.path or "openclaw.json"
    return " ".join([f"{where}: {issue.message}. The runtime does not start with it.", *nearest])


def _text(session: Session) -> str:
    return session.agent.config_text if session.agent else ""


def _system_tokens(index: Mapping[str, Any]) -> int | None:
    """The estimate of the system prompt by the report that the runtime keeps in its store."""
    report = index.get("systemPromptReport")
    prompt = report.get("systemPrompt") if isinstance(report, Mapping) else None
    chars = prompt.get("chars") if isinstance(prompt, Mapping) else None
    return math.ceil(chars / CHARS_PER_TOKEN) if js.is_finite(chars) and chars > 0 else None
