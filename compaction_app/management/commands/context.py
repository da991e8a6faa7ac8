"""``manage.py context TARGET``: the runtime's /context of a session, or what one call of it sent."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compaction_app.command_targets import add_target, runtime_sessions, stored_session
from compaction_app.context_at_call import context_json, told_context
from compaction_app.context_text import context_lines
from compaction_app.runs import situation_of
from compaction_app.runtime_views import reply
from sessions_app.hidden_secrets import showing
from sessions_app.masking import mask

MODES = ("list", "detail", "map", "json", "help")


class Command(BaseCommand):
    help = "What a session's context is made of, as the runtime's /context has it; or one call's."
    requires_system_checks: list[str] = []  # noqa: RUF012

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_target(parser)
        parser.add_argument("mode", nargs="?", default="list", choices=MODES)
        parser.add_argument(
            "--call",
            type=int,
            metavar="N",
            help="what model call N of a stored session sent, message by message",
        )
        parser.add_argument("--json", action="store_true", help="with --call: as JSON")

    def handle(self, *, target: str, mode: str, call: int | None, **options: Any) -> None:
        if call is not None:
            self.stdout.write(_call(target, call, as_json=options["json"]))
            return
        if options["json"]:
            mode = "json"
        sessions = runtime_sessions(target, options["key"])
        self.stdout.write("\n\n".join(mask(reply(f"/context {mode}", one)) for one in sessions))


def _call(target: str, number: int, *, as_json: bool) -> str:
    session = stored_session(target)
    if session is None:
        raise CommandError(
            "--call needs a stored session: import the file first (manage.py import_sessions), then "
            "give the session's id."
        )
    showing(session)
    try:
        told = told_context(situation_of(session), number)
    except IndexError:
        calls = session.facts.get("calls") or 0
        raise CommandError(
            f"The session has no call {number}; its calls are 1 to {calls}."
        ) from None
    if as_json:
        return json.dumps(context_json(told), indent=2, ensure_ascii=False)
    return "\n".join(context_lines(told))
