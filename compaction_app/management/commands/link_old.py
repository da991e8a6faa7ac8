"""``manage.py link_old``: chains for what was stored before there were any, now instead of by a worker."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from compaction_app.chain_backfill import backfill


class Command(BaseCommand):
    help = "Links what is older than the hash chains; stopped and started again it goes on."

    def handle(self, **_: Any) -> None:
        batches = backfill()
        self.stdout.write(f"{batches:,} batches linked; everything has its link now.")
