"""``manage.py diagnose PATH... [--config openclaw.json] [--json]``: the verdict, without a server."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final, cast

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.text import Text

from compaction_app.diagnosis import diagnose
from compaction_app.doctor_json import finding_json
from compaction_app.engine.diagnose import Finding
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.file_groups import CannotDiagnose

GRAVE_EXIT: Final = 1
USAGE_EXIT: Final = 2
STYLES: Final = {"grave": "bold red", "warn": "yellow", "info": "cyan"}


class Command(BaseCommand):
    help = (
        "Say what is wrong with transcripts, a store, a sessions.json, an openclaw.json or a state folder. "
        "Exit status 1 when a finding is grave, 2 when there is nothing to judge."
    )
    requires_system_checks: Sequence[str] = ()  # type: ignore[assignment]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--config", type=Path, help="the openclaw.json to judge by")
        parser.add_argument("--rule-set", choices=sorted(RULE_SETS), help="the version's rules")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *, paths: list[Path], json: bool, **options: Any) -> None:
        rules = RULE_SETS.get(options.get("rule_set") or "")
        try:
            found = diagnose(paths, options.get("config"), rules)
        except CannotDiagnose as error:
            self.stderr.write(str(error))
            sys.exit(USAGE_EXIT)
        if json:
            self._print_json(found)
        else:
            self._print_text(found)
        if any(finding.severity == "grave" for finding in found):
            sys.exit(GRAVE_EXIT)

    def _print_json(self, found: Sequence[Finding]) -> None:
        listed = {"findings": [finding_json(finding) for finding in found]}
        self.stdout.write(json.dumps(listed, indent=1, ensure_ascii=False))

    def _print_text(self, found: Sequence[Finding]) -> None:
        console = Console(file=cast(IO[str], self.stdout._out), highlight=False, soft_wrap=True)
        groups: dict[tuple[str, str], list[Finding]] = {}
        for finding in found:
            groups.setdefault((finding.agent, finding.session), []).append(finding)
        for (agent, session), listed in groups.items():
            of_agent = f" of agent {agent}" if agent else ""
            console.print(
                Text(f"Session {session}{of_agent}" if session else "Files", style="bold")
            )
            for finding in listed:
                console.print(_paragraph(finding))
            console.print()
        console.print(Text(_summary(found), style="bold"))


def _paragraph(finding: Finding) -> Text:
    style = STYLES[finding.severity]
    text = Text.assemble(
        "  ", (f"{finding.severity:<5}", style), " ", (finding.code, style), "\n        "
    )
    text.append(finding.consequence)
    if finding.line:
        text.append(f" (line {finding.line})", style="dim")
    figures = "  ".join(f"{key} {_figure(value)}" for key, value in finding.numbers.items())
    if figures:
        text.append(f"\n        {figures}", style="dim")
    if finding.fix:
        fixes = ", ".join(
            f"unset {key}" if value is None else f"{key} = {json.dumps(value)}"
            for key, value in finding.fix.items()
        )
        text.append(f"\n        fix: {fixes}", style="green")
    return text


def _figure(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def _summary(found: Sequence[Finding]) -> str:
    if not found:
        return "Nothing found."
    counts = [
        f"{count} {severity}"
        for severity in STYLES
        if (count := sum(finding.severity == severity for finding in found))
    ]
    return f"{len(found)} finding{'' if len(found) == 1 else 's'}: {', '.join(counts)}."
