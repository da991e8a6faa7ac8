"""``manage.py verify [SESSION...]``: whether what is stored is still what was stored."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from compaction_app.verification import Verified, sessions_to_verify, verify
from sessions_app.models import Session, Tombstone
from sessions_app.tombstones import broken_stones


class Command(BaseCommand):
    help = (
        "Works out the hash chains of sessions anew, with the checkpoints of their decisions, and "
        "names the first link that does not fit. The exit status is 1 when there is one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sessions", nargs="*", metavar="SESSION", help="ids; all without one")
        parser.add_argument("--json", action="store_true", help="one JSON object a line on stdout")

    def handle(self, *, sessions: list[str], json: bool, **_: Any) -> None:
        wanted = [_uuid(text) for text in sessions]
        total = len(wanted) or Session.objects.count()
        seen: set[str] = set()
        broken = waiting = number = 0
        with Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            console=Console(stderr=True), transient=True,
        ) as shown:  # fmt: skip
            task = shown.add_task("sessions", total=total)
            for session in sessions_to_verify(wanted):
                shown.update(task, description=session.title[:40])
                done = verify(session, lambda _: shown.refresh())
                seen |= {str(session.uuid)} if wanted else set()
                number, broken = number + 1, broken + bool(done.broken)
                waiting += done.waiting
                self._tell(done, json)
                shown.advance(task)
        if unknown := [one for one in wanted if one not in seen]:
            raise CommandError(f"No such session: {', '.join(unknown)}.")
        stones = [] if wanted else list(broken_stones())
        self._sum_up(number, broken + len(stones), waiting, stones, as_json=json)
        if broken or stones:
            raise SystemExit(1)

    def _tell(self, done: Verified, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(done.as_json()))
            return
        for fault in done.broken:
            self.stdout.write(f"{done.session.uuid}: {fault}")

    def _sum_up(
        self, sessions: int, broken: int, waiting: int, stones: list[str], *, as_json: bool
    ) -> None:
        kept = Tombstone.objects.count()
        if as_json:
            told = {"sessions": sessions, "tombstones": kept, "brokenTombstones": stones}
            self.stdout.write(json.dumps({**told, "broken": broken, "waiting": waiting}))
            return
        for fault in stones:
            self.stdout.write(fault)
        self.stdout.write(
            f"{sessions:,} sessions and {kept:,} tombstones looked at: "
            + (f"{broken:,} do not hold together." if broken else "all hold together.")
        )
        if waiting:
            self.stdout.write(
                f"{waiting:,} entries, records and decisions are older than the chains and have no link "
                "yet; a worker makes them, and so does `manage.py link_old`."
            )


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise CommandError(f"{text!r} is no id of a session.") from None
