"""``manage.py status TARGET``: what the runtime's /status says of a session's context."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from compaction_app.command_targets import add_target, runtime_sessions
from compaction_app.runtime_views import reply
from sessions_app.masking import mask


class Command(BaseCommand):
    help = "Tokens, window and compactions of a session, as the runtime's /status has them."
    requires_system_checks: list[str] = []  # noqa: RUF012

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_target(parser)
        parser.add_argument(
            "--usage", action="store_true", help="the line of /usage tokens instead"
        )

    def handle(self, *, target: str, usage: bool, **options: Any) -> None:
        command = "/usage tokens" if usage else "/status"
        texts = (mask(reply(command, one)) for one in runtime_sessions(target, options["key"]))
        self.stdout.write("\n\n".join(texts))
