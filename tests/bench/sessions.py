"""Sessions of any length, made from a real one: its turns are repeated with ids and times of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).resolve().parents[2] / "sessions_app/samples/pi-v3-1-two-compactions.jsonl"
STEP_MS = 3_600_000


def long_session(entries: int, with_compactions: bool = True) -> Iterator[bytes]:
    """The lines of a session of about ``entries`` entries.

    Each repetition of the sample is continued on the branch of the one before; its calls have ids of
    their own, as those of a runtime do.
    """
    header, *lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    yield header.encode() + b"\n"
    last: str | None = None
    written = round_number = 0
    while written < entries:
        renamed: dict[str, str] = {}
        for line in lines:
            record = json.loads(line)
            if record["type"] == "compaction" and not with_compactions:
                renamed[record["id"]] = renamed.get(record["parentId"], record["parentId"])
                continue
            identity = f"{round_number:04x}{record['id']}"
            renamed[record["id"]] = identity
            record["parentId"] = renamed.get(record["parentId"], last)
            record["id"] = identity
            if "firstKeptEntryId" in record:
                record["firstKeptEntryId"] = renamed[record["firstKeptEntryId"]]
            if isinstance(record.get("message"), dict):
                _continue(record["message"], round_number)
            last = identity
            yield json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            written += 1
            if written >= entries:
                return
        round_number += 1


def _continue(message: dict[str, Any], round_number: int) -> None:
    """A message's time and the ids of its tool calls in a later repetition."""
    if "timestamp" in message:
        message["timestamp"] += round_number * STEP_MS
    if "toolCallId" in message:
        message["toolCallId"] = f"{message['toolCallId']}-{round_number}"
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "toolCall":
            block["id"] = f"{block['id']}-{round_number}"
