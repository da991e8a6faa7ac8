"""``manage.py load_samples``: the sample sessions, for a team that has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from sessions_app.batches import import_files
from sessions_app.folders import walk
from sessions_app.imports import Source
from sessions_app.models import Team

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


class Command(BaseCommand):
    help = "Import the sample sessions that come with ContextLab. A second time changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        team = Team.objects.order_by("pk").first() or Team.objects.create(name="Owner")
        sources = [Source.of_path(p, p.relative_to(SAMPLES).as_posix()) for p in walk(SAMPLES)]
        for report in import_files(team, sources, root=SAMPLES):
            for session in report.sessions:
                self.stdout.write(f"{report.status} sample session {session.title}")
