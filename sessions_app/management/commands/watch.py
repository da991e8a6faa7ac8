"""``manage.py watch PATH... [--team]``: follow folders while agents write to them."""

from __future__ import annotations

import logging
import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sessions_app.management.commands.import_sessions import team_named
from sessions_app.models import WatchedFolder
from sessions_app.watching import FolderWatch, folder_of, run


class Command(BaseCommand):
    help = "Follow folders of sessions: what is new appears on open pages within a second."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
        parser.add_argument("--team", help="name of the team that will own the sessions")

    def handle(self, *, paths: list[Path], team: str | None, **options: Any) -> None:
        missing = [str(path) for path in paths if not path.exists()]
        if missing:
            raise CommandError(f"There is no such file or folder: {', '.join(missing)}.")
        logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it would name every change
        owner = team_named(team)
        rows = [folder_of(owner, path) for path in paths] or list(
            WatchedFolder.objects.filter(team=owner).order_by("pk")
        )
        watches = [FolderWatch(row) for row in rows if Path(row.path).exists()]
        if not watches:
            raise CommandError("Name a folder to watch; none was watched before.")
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        for watched in watches:
            reports = list(watched.begin())
            watched.report(sum(each.status in ("imported", "extended") for each in reports))
            refused = sum(each.status == "refused" for each in reports)
            self.stdout.write(
                f"watching {watched.root}: {len(watched.followers)} files"
                + (f", {refused} refused" if refused else "")
            )
            self.stdout.flush()  # whoever reads a pipe waits for this line
        for news in run(watches, stop):
            if news:
                self.stdout.write(f"news in {news} file{'' if news == 1 else 's'}")
                self.stdout.flush()
            if stop.is_set():
                break
