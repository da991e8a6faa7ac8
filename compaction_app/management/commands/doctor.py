"""``manage.py doctor [STATE_FOLDER | openclaw.json] [--json]``: examined as they lie, nothing changed."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final, cast

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from compaction_app.doctor_folder import ExaminedFolder, examine_files, files_to_read
from compaction_app.doctor_json import finding_json, report_json
from compaction_app.doctor_text import print_report
from compaction_app.engine.diagnose import Finding
from compaction_app.engine.rule_sets import RULE_SETS, RuleSet
from compaction_app.file_groups import CannotDiagnose, Group, groups_of

GRAVE_EXIT: Final = 1
USAGE_EXIT: Final = 2


class Command(BaseCommand):
    help = (
        "Examine a state folder, an openclaw.json, a store or transcripts, agent by agent: settings and their "
        "sources, windows, lines, findings, a corrected file and what it would do. Changes nothing. "
        "Exit status 1 when a finding is grave, 2 when there is nothing to examine."
    )
    requires_system_checks: Sequence[str] = ()  # type: ignore[assignment]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths", nargs="*", type=Path, metavar="PATH", help="default: ~/.openclaw"
        )
        parser.add_argument("--config", type=Path, help="the openclaw.json to judge by")
        parser.add_argument("--rule-set", choices=sorted(RULE_SETS), help="the version's rules")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
        parser.add_argument(
            "--write",
            type=Path,
            metavar="FILE",
            help="write the corrected openclaw.json to a new file",
        )

    def handle(self, *, paths: list[Path], json: bool, **options: Any) -> None:
        rules = RULE_SETS.get(options.get("rule_set") or "")
        try:
            groups = groups_of(paths or [Path.home() / ".openclaw"])
            examined = self._examine(groups, options.get("config"), rules)
            if options.get("write"):
                _write(options["write"], examined)
        except CannotDiagnose as error:
            self.stderr.write(str(error))
            sys.exit(USAGE_EXIT)
        if json:
            self._print_json(examined)
        else:
            console = Console(file=cast(IO[str], self.stdout._out), highlight=False)
            print_report(console, examined)
        if any(finding.severity == "grave" for finding in _all(examined)):
            sys.exit(GRAVE_EXIT)

    def _examine(
        self, groups: list[Group], config: Path | None, rules: RuleSet | None
    ) -> ExaminedFolder:
        """With a bar on stderr, one step for each transcript."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("reading", total=len(files_to_read(groups)))
            return examine_files(groups, config, rules, lambda path: bar.advance(task))

    def _print_json(self, examined: ExaminedFolder) -> None:
        listed = {
            "agents": [
                {
                    "config": str(each.config_path) if each.config_path else None,
                    **report_json(each.report, each.outcomes),
                }
                for each in examined.agents
            ],
            "findings": [finding_json(finding) for finding in examined.findings],
        }
        self.stdout.write(json.dumps(listed, indent=1, ensure_ascii=False))


def _all(examined: ExaminedFolder) -> list[Finding]:
    return [
        *examined.findings,
        *(finding for each in examined.agents for finding in each.report.findings),
        *(tally.finding for each in examined.agents for tally in each.report.tallies),
    ]


def _write(path: Path, examined: ExaminedFolder) -> None:
    """Write the corrected file of the first agent that has one.

    Raises:
        CannotDiagnose: when there is none, or the file exists.
    """
    text = next((e.report.corrected.text for e in examined.agents if e.report.corrected.text), "")
    if not text:
        raise CannotDiagnose("There is nothing to correct, so no file was written.")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CannotDiagnose(f"{path} exists; nothing was written. Name a new file.") from None
    except OSError as error:
        raise CannotDiagnose(f"{path} cannot be written: {error.strerror or error}.") from error
