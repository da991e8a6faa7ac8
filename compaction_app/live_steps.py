"""What live decisions are made on, kept beside them: enough to make them again, and no text twice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction_app import decisions
from compaction_app.engine.turn.record import StageRecord
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.live_state import LiveSession
from compaction_app.models import Decision, LiveStep, StoredConfig
from sessions_app.models import Window
from sessions_app.writing import LiveState

Json = Mapping[str, Any]
_SECRET: Final = re.compile(r"(api.?key|secret|password|token|authorization|credential)s?$", re.I)


@dataclass(frozen=True, slots=True)
class Basis:
    """A live session at the moment of a decision: how much of its window there was, what it remembered,
    the time."""

    entries: int
    content_bytes: int
    head: str
    memory: LiveState
    now_ms: int

    @classmethod
    def of(cls, loaded: LiveSession, now_ms: int, memory: LiveState | None = None) -> Basis:
        """``memory`` where the decision was made on another one than the session's."""
        window = loaded.window
        return cls(
            entries=window.entry_count,
            content_bytes=window.content_bytes,
            head=loaded.head or "",
            memory=memory or loaded.memory,
            now_ms=now_ms,
        )


def record_step(
    window: Window,
    setup: RunSetup,
    made: Sequence[decisions.Made],
    kind: LiveStep.Kind,
    basis: Basis,
    asked: Json,
) -> LiveStep | None:
    """Store live decisions and what they were made on; none where there are none."""
    around = setup.around
    policy = decisions.policy_record(setup.policy, around)
    rows = decisions.record(
        window.session, made, reading=Decision.Reading.LIVE, window=window, policy=policy
    )
    if not rows:
        return None
    keep_config(policy["config"], around.config)
    memory = basis.memory
    return LiveStep.objects.create(
        session_id=window.session_id,
        window=window,
        kind=kind,
        turn=rows[0].turn,
        entries=basis.entries,
        content_bytes=basis.content_bytes,
        head=basis.head,
        now_ms=basis.now_ms,
        index=dict(memory.index),
        run=dict(memory.run),
        queued=list(memory.queued),
        system={
            "chars": setup.system.chars,
            "flushFirst": setup.order != setup.rules.turn.orders[around.path],
        },
        asked=dict(asked),
        first=rows[0].pk,
        last=rows[-1].pk,
    )


def keep_config(digest: str, config: Json) -> None:
    """Keep a configuration for the decisions that name its digest, without what is secret in it."""
    if not StoredConfig.objects.filter(digest=digest).exists():
        StoredConfig.objects.get_or_create(
            digest=digest, defaults={"data": without_secrets(config)}
        )


def config_of(digest: str | None) -> Json | None:
    """The configuration of that digest; none where it was not kept."""
    found = StoredConfig.objects.filter(digest=digest or "").first()
    return None if found is None else dict(found.data)


def without_secrets(value: Any) -> Any:
    """A JSON value whose texts under names such as ``apiKey`` are left out; no rule reads them."""
    if isinstance(value, Mapping):
        return {
            name: "left out"
            if isinstance(one, str) and _SECRET.search(name)
            else without_secrets(one)
            for name, one in value.items()
        }
    return [without_secrets(one) for one in value] if isinstance(value, list | tuple) else value


def step_of(row: Decision) -> LiveStep | None:
    """What a live decision was made on; none where it was not kept."""
    if row.reading != Decision.Reading.LIVE:
        return None
    found = LiveStep.objects.filter(session=row.session_id, last__gte=row.pk).order_by("last")
    step = found.select_related("window").first()
    return step if step is not None and (step.first or 0) <= row.pk else None


def stages_made(turn: int, stages: Sequence[StageRecord]) -> list[decisions.Made]:
    """Stages of a turn, as they are recorded."""
    return [decisions.Made(turn, stage) for stage in stages]
