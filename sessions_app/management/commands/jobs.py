"""Jobs in the terminal: what waits, runs and has failed; their log; cancel and retry."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import IO, Any, cast
from uuid import UUID

from django.core.management import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from sessions_app import jobs
from sessions_app.job_list import SHOWN_LINES, Row, queue_state, row_of, writers_of
from sessions_app.masking import mask
from sessions_app.models import Job
from sessions_app.templatetags.numbers import duration
from sessions_app.workers import workers

STYLES = {"running": "cyan", "failed": "red", "succeeded": "green", "queued": "yellow"}
SHOWN = 30
UUID_CHARS = 36
REFRESH_SECONDS = 1.0


class Command(BaseCommand):
    help = "List jobs; show, cancel or repeat one of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--state", choices=Job.State.values, help="only jobs in this state")
        parser.add_argument("--watch", action="store_true", help="show progress until Ctrl-C")
        one = parser.add_mutually_exclusive_group()
        one.add_argument("--show", metavar="UUID", help="a job with its attempts and its log")
        one.add_argument("--cancel", metavar="UUID", help="ask for the end of a job")
        one.add_argument("--retry", metavar="UUID", help="do a failed or cancelled job again")

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(file=cast("IO[str]", self.stdout))
        if options["show"]:
            self.show(_job(options["show"]), console)
        elif options["cancel"]:
            job = _job(options["cancel"])
            if not job.is_open:
                raise CommandError(f"the job has ended already: {job.state}")
            jobs.cancel(job)
            self.stdout.write(f"asked to cancel: {job.title}")
        elif options["retry"]:
            job = _job(options["retry"])
            if not jobs.retry(job):
                raise CommandError(f"only failed or cancelled jobs are done again, not {job.state}")
            self.stdout.write(f"queued again: {job.title}")
        elif options["watch"]:
            self.watch(options["state"], console)
        else:
            console.print(table(options["state"]))

    def watch(self, state: str | None, console: Console) -> None:
        try:
            with Live(table(state), console=console, auto_refresh=False) as live:
                while True:
                    time.sleep(REFRESH_SECONDS)
                    live.update(table(state), refresh=True)
        except KeyboardInterrupt:
            self.stdout.write("")

    def show(self, job: Job, console: Console) -> None:
        row = row_of(job, timezone.now())
        console.print(f"{escape(mask(job.title))} ({row.kind}): {job.state} {_progress(row)}")
        for number, one in enumerate(job.tries.all(), 1):
            ended = one.outcome or "going on"
            why = f"{ended} {escape(mask(one.error))}"
            console.print(f"attempt {number}, {one.worker or 'unknown worker'}: {why}")
        for line in reversed(job.lines.order_by("-pk")[:SHOWN_LINES]):
            console.print(f"{line.at:%H:%M:%S} {line.level} {escape(mask(line.text))}")


def table(state: str | None) -> Table:
    """The newest jobs of all teams, under a line about the queue and the workers."""
    everything = Job.objects.all()
    queue, now = queue_state(everything), timezone.now()
    waits = "" if queue["oldest"] is None else f" (oldest {duration(queue['oldest'])})"
    alive = sum(worker.lives for worker in workers())
    title = f"{queue['running']} running, {queue['waiting']} waiting{waits}, {alive} workers"
    drawn = Table(title=title, title_justify="left")
    drawn.add_column("job", no_wrap=True, min_width=UUID_CHARS)
    for name in ("kind", "title", "state", "progress", "attempts", "took"):
        drawn.add_column(name, overflow="fold")
    chosen = everything.filter(state=state) if state else everything
    shown = list(chosen.order_by("-created_at", "-pk")[:SHOWN])
    writers = writers_of(everything, shown)
    for job in shown:
        row = row_of(job, now, writers.get(job.pk))
        style = STYLES.get(job.state, "")
        took = "" if row.took is None else duration(row.took)
        state_shown = f"[{style}]{job.state}[/]" if style else job.state
        title = escape(mask(job.title))
        drawn.add_row(
            str(job.uuid), row.kind, title, state_shown, _progress(row), str(job.attempts), took
        )
    return drawn


def _progress(row: Row) -> str:
    share = "" if row.share is None or row.job.state != Job.State.RUNNING else f"{row.share:.0%} "
    return escape(share + mask(row.said))


def _job(text: str) -> Job:
    try:
        return Job.objects.get(uuid=UUID(text))
    except (ValueError, Job.DoesNotExist):
        raise CommandError(f"there is no job {text}") from None
