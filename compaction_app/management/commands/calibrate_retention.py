"""``manage.py calibrate_retention``: how well anchors are found, and found again in a summary."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from compaction_app.engine.retention.anchors import KINDS, RULES_VERSION
from compaction_app.planting.plant import PARTS, Message
from compaction_app.planting.published import PUBLISHED, as_markdown, published
from compaction_app.planting.score import GOAL, Calibration, Score, calibrate
from sessions_app.importers import NotATranscript, entries_of
from sessions_app.transcripts.transcript import Entry

BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
SAMPLES = ("openclaw-1-large-tool-results.jsonl", "pi-v3-1-two-compactions.jsonl")


class Command(BaseCommand):
    help = (
        "Plants facts of every kind in real transcripts and counts how many are found, and how many "
        "are recognised in summaries. Exit status 1 when a figure is below 0.95."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("transcripts", nargs="*", help="default: two of the sample sessions")
        parser.add_argument("--part", choices=PARTS, default=PARTS[1])
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--rounds", type=int, default=4, help="how often each wording is used")
        parser.add_argument("--json", action="store_true", help="for machines")
        parser.add_argument("--examples", action="store_true", help="show what went wrong")
        parser.add_argument(
            "--publish", action="store_true", help="write the figures the page shows"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        paths = [Path(path) for path in options["transcripts"]] or [
            Path(settings.BASE_DIR) / "sessions_app" / "samples" / name for name in SAMPLES
        ]
        done = calibrate(
            [read_messages(path) for path in paths],
            options["part"],
            options["seed"],
            options["rounds"],
        )
        told = {
            "rulesVersion": RULES_VERSION,
            "part": options["part"],
            "seed": options["seed"],
            "rounds": options["rounds"],
            "transcripts": [path.name for path in paths],
            "kinds": done.to_json(),
        }
        if options["publish"]:
            PUBLISHED.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
            _write_docs()
        text = json.dumps(told, indent=1) if options["json"] else "\n".join(_table(done))
        self.stdout.write(text)
        if options["examples"]:
            self.stdout.write("\n".join(_examples(done)))
        if not done.is_met:
            raise CommandError(f"A figure is below {GOAL}.", returncode=1)


def read_messages(path: Path) -> list[Message]:
    """The messages of a transcript, in the order of its file.

    Raises:
        CommandError: when there is no transcript at the path.
    """
    try:
        data = path.read_bytes()
        items = [item for _, item in entries_of([data], at_rest=True)]
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}.") from error
    except NotATranscript as error:
        raise CommandError(f"{path}: {error}") from error
    return [item.message for item in items if isinstance(item, Entry) and item.role]


def _write_docs() -> None:
    published.cache_clear()
    page = Path(settings.BASE_DIR) / "docs" / "retention.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, behind = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{as_markdown()}\n{END}{behind}", encoding="utf-8")


def _table(done: Calibration) -> Iterable[str]:
    yield f"{'':12} {'found in messages':^27}  {'recognised in summaries':^27}"
    yield f"{'kind':12} {'precision':>9} {'recall':>7} {'facts':>7}  {'precision':>9} {'recall':>7} {'facts':>7}"
    for kind in KINDS:
        cells = "  ".join(_cells(scores[kind]) for scores in (done.extraction, done.matching))
        yield f"{kind:12} {cells}"


def _cells(score: Score) -> str:
    facts = score.right + score.missed
    return f"{score.precision:9.3f} {score.recall:7.3f} {facts:7,}"


def _examples(done: Calibration) -> Iterable[str]:
    for scores in (done.extraction, done.matching):
        for score in scores.values():
            yield from score.examples
