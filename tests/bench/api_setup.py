"""``python -m tests.bench.api_setup``: what the measurements of the API begin with; prints its ids as JSON.

A token, one session for each writer, and two sessions that end alike, in a compaction and a short
conversation, of 1,000 and of 100,000 entries.
"""

from __future__ import annotations

import json
import os

import django

WRITERS = 4
CROWD = 20


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
    django.setup()
    from django.conf import settings

    from compaction_app.policies import save_version
    from contextlab import broker
    from sessions_app import api_tokens
    from sessions_app.live_sessions import create_session
    from sessions_app.models import Agent, Team
    from tests.bench.append_cost import LONG, SHORT, session_of
    from tests.compaction_app.live import SMALL

    broker.create(settings.CELERY_BROKER_FOLDER)
    team = Team.objects.create(name="bench")
    given = {"team": team, "is_live": True, "model": "m"}
    wide = Agent.objects.create(name="wide", windows={"contextWindow": 400_000}, **given)
    # A file of this size would be flushed for its bytes, and the checks behind that not be made.
    save_version(wide, {"compaction.memoryFlush.forceFlushTranscriptBytes": 0})
    small = Agent.objects.create(name="small", **given)
    save_version(small, {**SMALL, "compaction.memoryFlush.enabled": False})
    print(
        json.dumps(
            {
                "token": api_tokens.create(team, None, "bench", "write").secret,
                "writers": [str(create_session(wide).uuid) for _ in range(WRITERS)],
                "sizes": {
                    entries: str(session_of(wide, entries).uuid) for entries in (SHORT, LONG)
                },
                "crowd": [str(create_session(small).uuid) for _ in range(CROWD)],
            }
        )
    )


if __name__ == "__main__":
    main()
