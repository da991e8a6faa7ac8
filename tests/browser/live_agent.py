"""``python -m tests.browser.live_agent [SESSION NUMBER]``: an agent that begins a session, or goes on.

Without arguments it begins one and prints its id.
"""

from __future__ import annotations

import os
import sys

import django


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
    django.setup()
    from compaction_app import live_turns
    from sessions_app.live_sessions import create_session
    from sessions_app.models import Agent, Session, Team
    from tests.compaction_app.live import answer, user

    if arguments:
        session = Session.objects.select_related("agent").get(uuid=arguments[0])
        number = int(arguments[1])
    else:
        agent = Agent.objects.create(team=Team.objects.get(), name="live", model="m", is_live=True)
        session, number = create_session(agent, "a talk"), 1
        print(session.uuid)
    live_turns.report_call(session, [user(f"question {number}"), answer("yes", 1_000 * number)])


if __name__ == "__main__":
    main(sys.argv[1:])
