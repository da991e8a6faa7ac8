"""On which turns the workspace files go into the prompt at all (spec compaction 5.4, 5.1)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from compaction_app.engine.config_value import value_at
from compaction_app.engine.decision import Decision
from compaction_app.engine.recovery_limits import agent_entry
from sessions_app.tokens import javascript as js

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

InjectionMode = Literal["always", "continuation-skip", "never"]
BootstrapMode = Literal["none", "limited", "full"]

INJECTION_MODES: tuple[InjectionMode, ...] = ("always", "continuation-skip", "never")
MARKER_TYPE = "openclaw:bootstrap-context:full"
TAIL_BYTES = 256 * 1024
TAIL_LINES = 500


@dataclass(frozen=True, slots=True)
class InjectionRules:
    """What differs by version.

    ``honours_never``: the mode ``never``, which every version accepts, is obeyed.
    ``without_access``: how a pending setup goes on in a run that cannot read files.
    """

    honours_never: bool
    without_access: BootstrapMode


INJECTION_2026_4_20 = InjectionRules(honours_never=False, without_access="none")
INJECTION_2026_5_28 = InjectionRules(honours_never=True, without_access="limited")


@dataclass(frozen=True, slots=True)
class ContextInjection:
    """Whether the files are injected.

    ``is_continuation``: they are left out because an earlier turn had them. ``records_marker``: a turn
    that ends well leaves the mark that such a turn was.
    """

    decision: Decision
    is_continuation: bool
    records_marker: bool


def injection_mode(config: Any, agent_id: str | None) -> InjectionMode:
    """The setting ``contextInjection`` of the agent, else of the defaults, else ``always``."""
    owners = (agent_entry(config, agent_id), value_at(config, "agents", "defaults"))
    for given in (value_at(owner, "contextInjection") for owner in owners):
        for mode in INJECTION_MODES:
            if given == mode:
                return mode
    return "always"


def bootstrap_mode(
    *,
    pending: bool,
    run_kind: str | None,
    is_primary: bool,
    is_interactive: bool,
    has_file_access: bool,
    is_canonical_workspace: bool,
    rules: InjectionRules,
) -> BootstrapMode:
    """How a pending first-time setup is carried on in this run."""
    if not pending or run_kind in ("heartbeat", "cron") or not (is_primary and is_interactive):
        return "none"
    if not has_file_access:
        return rules.without_access
    return "full" if is_canonical_workspace else "limited"


def asks_for_marker(mode: InjectionMode, bootstrap: str | None, run_kind: str | None) -> bool:
    """Whether it matters if an earlier turn had the files."""
    return mode == "continuation-skip" and bootstrap != "full" and run_kind != "heartbeat"


def context_injection(
    mode: InjectionMode,
    bootstrap: str | None,
    run_kind: str | None,
    context_mode: str | None,
    completed: bool,
    rules: RuleSet,
) -> ContextInjection:
    """Decide for one attempt; ``completed`` is whether the session carries the mark.

    Only a turn of a pending full setup leaves the mark, so without one nothing is ever skipped.
    """
    skips = asks_for_marker(mode, bootstrap, run_kind) and completed
    off = mode == "never" and rules.composition.injection.honours_never
    injects = not (off or skips)
    records = (
        injects
        and context_mode != "lightweight"
        and run_kind != "heartbeat"
        and bootstrap == "full"
    )
    reason = "already_injected" if skips else "injection_off" if off else "injected"
    decision = Decision(
        rule="context_injection",
        fired=injects,
        outcome="inject" if injects else "skip",
        reason=reason,
        rule_set=rules.id,
        inputs={
            "contextInjection": mode,
            "bootstrapMode": bootstrap,
            "runKind": run_kind,
            "completedBootstrapTurn": completed,
        },
    )
    return ContextInjection(decision, skips, records)


def has_completed_bootstrap(text: str) -> bool:
    """Whether the end of a session file carries the mark, no compaction being behind it."""
    for entry in _entries_from_the_end(text):
        if entry.get("type") == "compaction":
            return False
        if entry.get("type") == "custom" and entry.get("customType") == MARKER_TYPE:
            return True
    return False


def _entries_from_the_end(text: str) -> Iterator[Any]:
    data = text.encode("utf-8", "surrogatepass")
    lines = data[-TAIL_BYTES:].decode("utf-8", "replace").split("\n")
    if len(data) > TAIL_BYTES:
        del lines[0]
    for line in [line for line in lines if not js.is_blank(line)][: -TAIL_LINES - 1 : -1]:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry
