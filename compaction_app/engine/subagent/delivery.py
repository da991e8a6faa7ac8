"""When the end of a subagent's run is announced, with which text, and how it arrives (spec compaction 7).

The spec does not say how often a postponed or failed announcement is tried again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compaction_app.engine.decision import Decision
from compaction_app.engine.silent_reply import OPENCLAW_2026_5_28, SilentRules
from compaction_app.engine.subagent.announce import clean_reply
from compaction_app.engine.subagent.completion import NO_OUTPUT
from compaction_app.engine.subagent.output import is_silent_output
from sessions_app.tokens import javascript as js

MIN_SETTLE_MS = 1
MAX_SETTLE_MS = 120_000
ANNOUNCE_TIMEOUT_MS = 120_000
CAPTURE_WAIT_MS = 1500
ANNOUNCE_CAPTURE_WAIT_MS = 15_000
CAPTURE_INTERVAL_MS = 100
"""How long, and how often, a finished run's history is looked at for a result that is still written."""

Path = Literal["direct", "steer"]


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A subagent's run that has ended.

    ``reply`` is its result, ``earlier_reply`` one it gave before; ``findings`` are the results of its
    own children, of which ``pending_descendants`` are still running.
    """

    status: str
    reply: str | None = None
    earlier_reply: str | None = None
    findings: str | None = None
    pending_descendants: int = 0
    is_cron: bool = False


@dataclass(frozen=True, slots=True)
class Announcement:
    """``text`` is the result to tell. Outcomes: ``announce``, ``skip`` (done as well), ``postpone``."""

    decision: Decision
    text: str | None = None


def announcement(
    run: FinishedRun, rule_set: str, rules: SilentRules = OPENCLAW_2026_5_28
) -> Announcement:
    """Decide what the requester is told."""
    if run.pending_descendants > 0 and not run.is_cron:
        return _decided("postpone", "descendants_pending", rule_set)
    if run.findings:
        return _decided("announce", "child_findings", rule_set, run.findings)
    if js.is_blank(run.reply or ""):
        return _decided("announce", "no_output", rule_set, NO_OUTPUT)
    reply, reason = run.reply or "", "reply"
    if is_silent_output(reply, rules):
        earlier = run.earlier_reply or ""
        if run.status != "ok" or js.is_blank(earlier) or is_silent_output(earlier, rules):
            return _decided("skip", "silent_reply", rule_set)
        reply, reason = earlier, "earlier_reply"
    text = clean_reply(reply, rules)
    if text is None:
        return _decided("skip", "nothing_left", rule_set)
    return _decided("announce", reason, rule_set, text)


def delivery_paths(*, expects_completion: bool) -> tuple[Path, Path]:
    """In which order an announcement is tried: as a message of its own, or into the running parent."""
    return ("direct", "steer") if expects_completion else ("steer", "direct")


def settle_ms(wanted: float) -> int:
    """How long to wait for a child to come to rest."""
    return int(min(max(MIN_SETTLE_MS, js.floor(wanted)), MAX_SETTLE_MS))


def removes_child(cleanup: str | None, announced: Announcement) -> bool:
    """Whether the child's session is deleted now: never while its announcement is postponed."""
    return cleanup == "delete" and announced.decision.outcome != "postpone"


def _decided(outcome: str, reason: str, rule_set: str, text: str | None = None) -> Announcement:
    fired = outcome == "announce"
    decision = Decision(
        rule="subagent_announce", fired=fired, outcome=outcome, reason=reason, rule_set=rule_set
    )
    return Announcement(decision, text)
