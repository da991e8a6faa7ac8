"""``python -m tests.services.many_writers WRITERS ROUNDS``: threads that append to one session at once.

Beside them a reader follows the outbox. Prints one line of JSON with what is stored in the end.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

import django


def main(writers: int, rounds: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
    django.setup()
    from django.db import connection

    from compaction_app import live_turns
    from sessions_app.events import events_after
    from sessions_app.live_sessions import create_session
    from sessions_app.models import Agent, Entry, Session, Team
    from sessions_app.payload import unpack

    team = Team.objects.create(name="many")
    agent = Agent.objects.create(team=team, name="many", model="m", is_live=True)
    session = create_session(agent)
    start, over = threading.Barrier(writers + 1), threading.Event()
    failures: list[str] = []
    receipts: dict[str, str | None] = {}
    seen: list[int] = []

    def write(number: int) -> None:
        mine = Session.objects.select_related("agent").get(pk=session.pk)
        start.wait()
        try:
            for turn in range(rounds):
                texts = [f"{number}:{turn}:{part}" for part in "ab"]
                sent = [{"role": "user", "content": text} for text in texts]
                done = live_turns.append(mine, sent)
                receipts.update(zip(texts, (r.id for r in done.receipts), strict=True))
        except Exception as error:  # whatever it is, the test has to hear of it
            failures.append(repr(error))
        finally:
            connection.close()

    def follow() -> None:
        start.wait()
        while True:
            ends = over.is_set()
            news = events_after(session, seen[-1] if seen else 0)
            seen.extend(event.sequence for event in news)
            if ends and not news:
                break
        connection.close()

    threads = [threading.Thread(target=write, args=(n,)) for n in range(writers)]
    reader = threading.Thread(target=follow)
    for thread in (*threads, reader):
        thread.start()
    for thread in threads:
        thread.join()
    over.set()
    reader.join()
    rows = list(Entry.objects.filter(window__session=session).order_by("seq"))
    window = session.windows.get()
    result: dict[str, Any] = {
        "failures": failures,
        "texts": [row.excerpt for row in rows],
        "chained": [row.parent_seq for row in rows] == [None, *range(len(rows) - 1)],
        "receipts": {row.excerpt: row.entry_id for row in rows} == receipts,
        "bytes": window.content_bytes
        == len(unpack(window.header)) + 1 + sum(len(unpack(row.payload)) + 1 for row in rows),
        "entries": window.entry_count,
        "events": seen,
        "turns": Session.objects.get(pk=session.pk).run["turn"],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
