"""Bring the database up to date; at the first start also make the owner and load the samples."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand, CommandError, call_command, get_commands
from django.db import DatabaseError, connection, transaction

from contextlab.owner import create_owner, owner


class Command(BaseCommand):
    help = "Migrate; at the first start also create the owner and load the sample sessions."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            call_command("migrate", interactive=False, verbosity=0)
            if owner() is None:
                self.first_start()
        except DatabaseError as error:
            raise CommandError(
                f"the database cannot be used: {' '.join(str(error).split())} "
                "(check DATABASE_URL, and that the file or server is there and whole)"
            ) from error
        connection.close()  # what is started next must not inherit it

    def first_start(self) -> None:
        """All or nothing: what fails half-way is tried again at the next start."""
        with transaction.atomic():
            create_owner()
            if "load_samples" in get_commands():
                self.stdout.write("first start: loading the sample sessions")
                self.stdout.flush()
                call_command("load_samples", stdout=self.stdout)
