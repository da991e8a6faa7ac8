"""``python -m tests.bench.append_cost``: what an append and a prepare cost in a short and a long session.

Prints one line of JSON with the medians in milliseconds of processor time. Both sessions end alike, in a
compaction and a short conversation, so that their contexts have the same size. The two are written by
turns, so that whatever else the machine does meets both alike.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable
from time import process_time
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from sessions_app.models import Agent, Session

SHORT, LONG = 1_000, 100_000
ROUNDS = 60
BATCH = 5_000
TAIL = 300
TEXT = "A sentence of some words that says little, but is as long as most of them are. " * 4


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
    django.setup()
    from compaction_app.policies import save_version
    from sessions_app.models import Agent, Team

    agent = Agent.objects.create(
        team=Team.objects.create(name="bench"),
        name="bench",
        model="m",
        windows={"contextWindow": 400_000},
        is_live=True,
    )
    # A file of this size would be flushed for its bytes, and the checks behind that not be made.
    save_version(agent, {"compaction.memoryFlush.forceFlushTranscriptBytes": 0})
    sessions = {entries: session_of(agent, entries) for entries in (SHORT, LONG)}
    print(json.dumps(_measured(sessions)))


def session_of(agent: Agent, entries: int) -> Session:
    from sessions_app import store
    from sessions_app.live_sessions import create_session

    session = create_session(agent)
    for start in range(0, entries - TAIL, BATCH):
        with store.writing(session) as writer:
            writer.append_entries(map(_entry, range(start, min(start + BATCH, entries - TAIL))))
    with store.writing(session) as writer:
        made = {"summary": "So far.", "firstKeptEntryId": writer.head, "tokensBefore": 9}
        writer.append_entries([{"type": "compaction", **made}, *map(_entry, range(TAIL - 1))])
    return session


def _entry(number: int) -> dict[str, Any]:
    role = ("user", "assistant")[number % 2]
    message = {"role": role, "content": [{"type": "text", "text": f"{number} {TEXT}"}]}
    return {"type": "message", "message": message}


def _measured(sessions: dict[int, Session]) -> dict[str, dict[int, float]]:
    from compaction_app import live_turns
    from sessions_app.models import Session

    times: dict[str, dict[int, list[float]]] = {"append": {}, "prepare": {}}
    sent = [{"role": "user", "content": TEXT}]
    for _ in range(ROUNDS):
        for entries, given in sessions.items():
            session = Session.objects.select_related("agent").get(pk=given.pk)
            works: dict[str, Callable[[], object]] = {
                "append": lambda s=session: live_turns.append(s, sent),
                "prepare": lambda s=session: live_turns.prepare(s, sent[0]),
            }
            for name, work in works.items():
                begun = process_time()
                work()
                times[name].setdefault(entries, []).append((process_time() - begun) * 1000)
    return {
        name: {entries: statistics.median(found) for entries, found in by_size.items()}
        for name, by_size in times.items()
    }


if __name__ == "__main__":
    main()
