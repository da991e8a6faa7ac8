"""``manage.py simulate PATH...``: recorded sessions through the rules, without a server or database."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compaction_app.engine.circumstances import PATHS
from compaction_app.engine.policy import PolicyError
from compaction_app.engine.rule_sets import RULE_SETS, RuleSet
from compaction_app.engine.session_policy import rule_set_of
from compaction_app.engine.simulation.audit import audit, audit_report
from compaction_app.engine.simulation.inputs import (
    Asked,
    SessionFiles,
    SimulationInputs,
    simulation_inputs,
    what_if,
)
from compaction_app.engine.simulation.report import what_if_report
from compaction_app.engine.simulation.resent import RESENT_NOTE, resent_totals
from compaction_app.engine.summary_sizes import AS_KNOWN, CHOICES, SummaryChoice
from compaction_app.engine.tape.what_if import NeedsTexts, tape_report, tape_what_if
from compaction_app.session_files import UnreadableFile, find_sessions
from compaction_app.summarisers.extractive import extractive_summary
from compaction_app.summary_choice import SOURCE, TOKENS, read_choice
from sessions_app.transcripts.loading import UnreadableTranscript


class Command(BaseCommand):
    help = "What a recorded session did, or would have done under another policy, and why."
    requires_system_checks: list[str] = []  # noqa: RUF012

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--config", type=Path, help="openclaw.json instead of the one beside")
        parser.add_argument("--rule-set", choices=sorted(RULE_SETS), help="the version's rules")
        parser.add_argument("--path", choices=PATHS, help="how the session's messages come in")
        parser.add_argument(
            "--policy", help='settings to change, as JSON: {"contextWindow": 64000}'
        )
        parser.add_argument(
            "--audit",
            action="store_true",
            help="judge the recorded states, let nothing take effect",
        )
        parser.add_argument(
            "--summary",
            type=_summary,
            default=AS_KNOWN,
            help=f"size of simulated summaries: {', '.join(CHOICES)}, or tokens for each",
        )
        parser.add_argument("--json", action="store_true", help="one JSON list on stdout")

    def handle(self, *, paths: list[Path], json: bool, **options: Any) -> None:
        rules = RULE_SETS.get(options["rule_set"] or "")
        path, changes = options["path"], _changes(options["policy"])
        reports, faults = [], []
        try:
            for session in find_sessions(paths, options["config"]):
                asked = Asked(rules or rules_of_files(session), path, changes, options["summary"])
                try:
                    reports.append(_report(session, asked, audited=options["audit"]))
                except UnreadableTranscript as error:
                    faults.append(_fault(session, error))
        except UnreadableFile as error:
            raise CommandError(str(error)) from None
        if not reports:
            raise CommandError("\n".join(faults) or "No session transcripts were found there.")
        if faults:
            self.stderr.write("\n".join(faults))
        if json:
            self.stdout.write(_json(reports))
            return
        for report in reports:
            self.stdout.write("\n".join(_lines(report)))


def rules_of_files(session: SessionFiles) -> RuleSet:
    """The rules of the version that wrote a session, as its store, transcript and configuration say."""
    header = session.transcripts[-1].header
    version = header.version if header and header.source == "openclaw" else None
    return rule_set_of(session.config, session.store_version, version)


def _report(session: SessionFiles, asked: Asked, *, audited: bool) -> dict[str, Any]:
    try:
        inputs: SimulationInputs = simulation_inputs(session, asked, summarise=extractive_summary)
    except PolicyError as error:
        raise CommandError(f"--policy: {error}") from None
    if audited:
        return audit_report(inputs, audit(inputs))
    try:
        report = tape_report(inputs, tape_what_if(inputs))
    except NeedsTexts:
        report = what_if_report(inputs, what_if(inputs))
    report["totals"] |= resent_totals(session, inputs, asked.summary, extractive_summary)
    report["notes"].append(RESENT_NOTE)
    return report


def _fault(session: SessionFiles, error: UnreadableTranscript) -> str:
    """What the runtime would fail on, and in which line."""
    entries = (entry for transcript in session.transcripts for entry in transcript.entries)
    lines = (f", line {entry.line}" for entry in entries if error.entry_id == entry.id)
    header = session.transcripts[-1].header
    name = header.id if header else "without a header"
    return f"Session {name}{next(lines, '')}: the runtime cannot read on, there is {error}."


def _summary(text: str) -> SummaryChoice:
    problems: dict[str, str] = {}
    name = TOKENS if text[:1].isdigit() else SOURCE
    choice = read_choice({name: text}, problems)
    if problems:
        raise ArgumentTypeError(" ".join(problems.values()))
    return choice


def _changes(text: str | None) -> Mapping[str, Any]:
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise CommandError(f"--policy is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise CommandError('--policy: an object is expected, such as {"contextWindow": 64000}.')
    return value


def _json(reports: list[dict[str, Any]]) -> str:
    return json.dumps(reports, indent=1)


def _lines(report: dict[str, Any]) -> Iterator[str]:
    """A session for the eye: its totals, then what fired."""
    totals = report["totals"]
    yield (
        f"{report['session']}  {report['mode']} under {report['ruleSet']}: {totals['turns']} turns, "
        f"{totals['calls']} calls, {totals['flushes']} flushes, {totals['compactions']} compactions, "
        f"{totals['blocked']} blocked"
    )
    for event in report["events"]:
        before, after = (_figure(event[key]) for key in ("tokensBefore", "tokensAfter"))
        yield f"  turn {event['turn']:>4}  {event['kind']:<21} {before:>9} -> {after:>9}  {event['reason']}"
    yield from (f"  {note}" for note in report["notes"])


def _figure(tokens: float | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"
