"""Print the table of environment variables, as the README has it."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from contextlab.env import VARIABLES


def table() -> str:
    """Markdown, in the order in which the settings read the variables."""
    rows = [f"| `{v.name}` | {v.default or '–'} | {v.help} |" for v in VARIABLES.values()]
    return "\n".join(["| Variable | Default | Meaning |", "|---|---|---|", *rows])


class Command(BaseCommand):
    help = "Print the table of environment variables for the README."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(table())
