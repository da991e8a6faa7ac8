"""``python -m tests.bench.admin_driver ROWS``: decisions by the million, and how long the admin takes.

Run with a database of its own: it is migrated and filled. Prints milliseconds and queries as JSON.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from typing import Any

import django

TIMES = 7
SESSIONS = 1_000
FEW = 1_000
CODES = {
    "rule": ("preflight", "memory_flush", "prompt_route", "inner_trigger", "soft_guard"),
    "outcome": ("skip", "flush", "fits", "none", "pass", "compacted"),
    "reason": ("below_threshold", "within_limits", "no_total", "flush_due"),
}


def main(rows: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
    django.setup()
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    setup_test_environment()
    call_command("migrate", verbosity=0)
    _fill(1, FEW)
    few = _pages()
    _fill(FEW + 1, rows)
    many = _pages()
    print(json.dumps({"few": few, "many": many}))


def _fill(first: int, last: int) -> None:
    """Decisions of numbers, made by the database: a second apart, in sessions by turns."""
    from django.db import connection

    from sessions_app.models import Session, Team, Window

    if not Session.objects.exists():
        team = Team.objects.create(name="bench")
        made = [Session(team=team, title=f"session {n}") for n in range(SESSIONS)]
        Window.objects.bulk_create(Window(session=one) for one in Session.objects.bulk_create(made))
    lowest = Session.objects.order_by("pk").values_list("pk", flat=True)[0]
    if connection.vendor == "sqlite":
        uuid, at = "printf('%032x', i)", "datetime(1767225600 + i, 'unixepoch')"
    else:
        uuid, at = "lpad(to_hex(i), 32, '0')::uuid", "to_timestamp(1767225600 + i)"
    picks = ", ".join(
        f"CASE i % {len(codes)} " + " ".join(f"WHEN {n} THEN '{code}'" for n, code in enumerate(codes)) + " END"
        for codes in CODES.values()
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last}) "
            "INSERT INTO compaction_app_decision (uuid, session_id, reading, turn, run, attempt, call, stage, "
            "rule, outcome, reason, fired, rule_set, inputs, steps, entries, created_at) "
            f"SELECT {uuid}, {lowest} + i % {SESSIONS}, CASE WHEN i % 50 = 0 THEN 'live' ELSE 'audit' END, "
            f"i / {SESSIONS}, 'turn', 0, 1, 'preflight', {picks}, i % 10 = 0, 'openclaw-2026.5.28', "
            f"'{{\"totalTokens\":71999}}', '[]', '{{}}', {at} FROM n"
        )
        cursor.execute("ANALYZE")  # as the database does by itself after a while


def _pages() -> dict[str, tuple[float, int]]:
    """Of each page the median in milliseconds, and its queries."""
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from compaction_app.models import Decision

    client = Client()
    client.force_login(User.objects.get_or_create(username="o", is_superuser=True, is_staff=True)[0])  # fmt: skip
    row = Decision.objects.select_related("session").latest("pk")
    address = "/admin/compaction_app/decision/"
    asked = {
        "list": {}, "page 9": {"p": "9"}, "by rule": {"rule": "preflight"},
        "by outcome and reason": {"outcome": "skip", "reason": "no_total"},
        "by a reason nobody has": {"reason": "overflow"}, "fired": {"fired__exact": "1"},
        "live": {"reading__exact": "live"}, "a day": {"created_at__gte": "2026-01-01 00:00:00+00:00"},
        "a session": {"q": str(row.session.uuid)}, "a decision": {"q": str(row.uuid)},
    }  # fmt: skip
    found: dict[str, tuple[float, int]] = {}
    for name, query in asked.items():
        found[name] = _measured(client, address, query, CaptureQueriesContext(connection))
    found["page of one"] = _measured(
        client, f"{address}{row.pk}/change/", {}, CaptureQueriesContext(connection)
    )
    found["replay of one"] = _measured(
        client, f"{address}{row.pk}/replay/", {}, CaptureQueriesContext(connection)
    )
    return found


def _measured(client: Any, address: str, query: Any, captured: Any) -> tuple[float, int]:
    taken = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        answer = client.get(address, query)
        taken.append((time.perf_counter() - begun) * 1000)
        assert answer.status_code == 200, (address, query, answer.status_code)
    with captured:
        client.get(address, query)
    return statistics.median(taken), len(captured)


if __name__ == "__main__":
    main(int(sys.argv[1]))
