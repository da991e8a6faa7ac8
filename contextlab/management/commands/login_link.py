"""Print a one-time login link."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError, CommandParser

from contextlab.owner import login_address, owner


class Command(BaseCommand):
    help = "Print a link that logs a user in once; a link printed before stops working."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", help="default: the owner")

    def handle(self, *args: Any, username: str | None, **options: Any) -> None:
        if username is None:
            user = owner()
        else:
            user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            who = f"user {username!r}" if username else "owner; start with manage.py up"
            raise CommandError(f"there is no {who}")
        self.stdout.write(login_address(user))
