"""``manage.py import_sessions PATH... [--json]``: files, folders, an OpenClaw state folder."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from sessions_app.batches import FileReport, import_files
from sessions_app.folders import beside, walk
from sessions_app.imports import Source
from sessions_app.models import Session, Team
from sessions_app.plurals import counted


class Command(BaseCommand):
    help = "Import session files, folders of them, or an OpenClaw state folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--json", action="store_true", help="one JSON list on stdout")
        parser.add_argument("--team", help="name of the team that will own the sessions")

    def handle(self, *, paths: list[Path], json: bool, team: str | None, **options: Any) -> None:
        owner = team_named(team)
        explicit = {path.resolve() for path in paths if path.is_file()}
        sources = _sources(paths)
        reports = [_missing(path) for path in paths if not path.exists()]
        if json:
            reports += import_files(owner, sources, root=Path.cwd())
            self._print_json(reports)
        else:
            reports += self._with_progress(owner, sources)
        if not reports:
            self.stderr.write("No session files were found there.")
        refused = [
            r for r in reports if r.status == "refused" and Path(r.path).resolve() in explicit
        ]
        if refused or not reports or any(not path.exists() for path in paths):
            sys.exit(1)

    def _print_json(self, reports: list[FileReport]) -> None:
        self.stdout.write(json.dumps([report_json(report) for report in reports], indent=1))

    def _with_progress(self, team: Team, sources: list[Source]) -> list[FileReport]:
        console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
        )
        reports: list[FileReport] = []
        with Progress(*columns, console=console, transient=True) as bar:
            sizes = {source.name: source.size for source in sources}
            task = bar.add_task("importing", total=sum(sizes.values()))
            read: dict[str, int] = {}

            def advance(name: str, done: int) -> None:
                read[name] = done
                bar.update(task, completed=sum(read.values()))

            for report in import_files(team, sources, advance, Path.cwd()):
                advance(report.path, sizes.get(report.path, 0))
                bar.update(task, description=report.path.rsplit("/", 1)[-1][:40])
                reports.append(report)
                self.stdout.write(_line(report))
        return reports


def report_json(report: FileReport) -> dict[str, Any]:
    """One file of the answer to ``--json``."""
    return {
        "path": report.path,
        "status": report.status,
        "error": report.error or None,
        "sessions": [session_json(session) for session in report.sessions],
    }


def session_json(session: Session) -> dict[str, Any]:
    """A session as ``--json`` shows it; unknown figures are null."""
    facts = session.facts
    problems = [
        {"line": line, "kind": kind, "message": message}
        for window in session.windows.order_by("sequence")
        for line, kind, message in window.problems.order_by("line", "pk").values_list(
            "line", "kind", "message"
        )
    ]
    return {
        "id": str(session.uuid),
        "format": session.source,
        "lines": facts.get("lines"),
        "entries": session.entry_count,
        "branches": facts.get("branches"),
        "compactions": facts.get("compactions"),
        "peakBilled": facts.get("peakBilled"),
        "peakEstimated": facts.get("peakEstimated"),
        "problems": problems,
    }


def team_named(name: str | None) -> Team:
    """The team of that name, else the first one."""
    teams = Team.objects.order_by("pk")
    if name is None:
        return teams.first() or Team.objects.create(name="Owner")
    team = teams.filter(name=name).first()
    if team is None:
        known = ", ".join(teams.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"There is no team {name!r}. Teams: {known}.")
    return team


def _sources(paths: list[Path]) -> list[Source]:
    found: dict[Path, Path] = {}
    for path in (path for path in paths if path.exists()):
        for file in walk(path):
            found.setdefault(file.resolve(), file)
        if path.is_file():
            for file in beside(path):
                found.setdefault(file.resolve(), file)
    return [Source.of_path(file, file.as_posix()) for file in found.values()]


def _missing(path: Path) -> FileReport:
    return FileReport(str(path), "refused", "There is no such file or folder.")


def _line(report: FileReport) -> str:
    if report.status == "refused":
        return f"refused    {report.path}\n           {report.error}"
    counts = ", ".join(
        f"{counted(session.entry_count, 'entry', 'entries')}, "
        f"{counted(session.facts.get('compactions', 0), 'compaction')}, "
        f"peak {session.peak_tokens:,} tokens, {counted(session.facts.get('problems', 0), 'problem')}"
        for session in report.sessions
    )
    return f"{report.status:<10} {report.path}" + (f"\n           {counts}" if counts else "")
