"""``python -m tests.bench.decisions_driver``: every decision that is recorded, replayed from its row.

Run with a database of its own: it is migrated and filled. Prints how many there are of each verdict as JSON.
"""

from __future__ import annotations

import json
import os

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
    django.setup()
    from django.core.management import call_command

    from sessions_app.signals import session_changed
    from tests.compaction_app.agreeing import TRANSCRIPTS, of_run, of_transcript
    from tests.golden import runs

    call_command("migrate", verbosity=0)
    session_changed.receivers = []  # nobody is to queue audits: they are done here
    session_changed.sender_receivers_cache.clear()
    found = {
        "recorded runs": {name: of_run(name) for name in runs.NAMES},
        "real transcripts": {path.stem: of_transcript(path) for path in TRANSCRIPTS},
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
