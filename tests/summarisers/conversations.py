"""Conversations to be summarised, short ones written by hand and the real ones of the test data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.compaction.instructions import IdentifierPolicy, structure_instructions
from compaction_app.engine.compaction.message_text import readable_text
from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.engine.compaction.run import CompactionOrder
from compaction_app.summarisers.extraction.carried import NOTHING
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.json_lines import parse_json_lines
from sessions_app.transcripts.loading import load_loose
from tests.engine.compaction.driving import assistant, result, user

ROOT = Path(__file__).parents[2]
REAL = sorted(
    path
    for pattern in (
        "sessions_app/samples/**/*.jsonl",
        "tests/data/transcripts/*.jsonl",
        "tests/data/runs/**/*.jsonl",
    )
    for path in ROOT.glob(pattern)
    if path.name != "gates.jsonl"
)
STRUCTURE = structure_instructions(None, IdentifierPolicy())
HEADING = re.compile(r"#{2,3} .+")


def branch_of(path: Path) -> list[Any]:
    """The branch of a real transcript, without compactions at its very end."""
    entries = list(load_loose(parse_json_lines(path.read_bytes())).branch())
    while entries and entries[-1].get("type") == "compaction":
        entries.pop()
    return entries


def order(**changes: Any) -> CompactionOrder:
    values: dict[str, Any] = {
        "mode": "safeguard",
        "settings": CompactionSettings(reserve_tokens=20_000, keep_recent_tokens=2000),
        "entry_id": "new",
        "timestamp": "2026-01-02T00:00:00.000Z",
        "now_ms": 0,
        "model": {"provider": "p", "id": "m", "contextWindow": 64_000, "maxTokens": 8192},
    }
    return CompactionOrder(**{**values, **changes})


def structured(messages: Sequence[Any], **fields: Any) -> ModelCall:
    return ModelCall(messages, **{"reserve_tokens": 16_384, "instructions": STRUCTURE, **fields})


def plain(messages: Sequence[Any], **fields: Any) -> ModelCall:
    return ModelCall(messages, **{"reserve_tokens": 16_384, **fields})


def sections(summary: str) -> dict[str, list[str]]:
    """The lines below each heading."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in summary.split("\n"):
        if HEADING.fullmatch(line):
            heading = line
            found[heading] = []
        elif line:
            found[heading].append(line.removeprefix("- "))
    return found


def said(messages: Sequence[Any]) -> str:
    """Everything a summary may take words from, in one text."""
    parts = []
    for message in messages:
        parts.append(readable_text(message))
        parts += [str(message.get(key, "")) for key in ("summary", "toolName", "details")]
        blocks = message.get("content")
        if isinstance(blocks, list):
            parts += [js.json_text(block) for block in blocks]
            parts += [str(block.get("arguments")) for block in blocks if isinstance(block, dict)]
    return "\n".join(parts).casefold()


def invented(summary: str, source: str) -> list[str]:
    """The words of a summary's lines that its source does not have, our own few labels apart."""
    lines = [line for lines in sections(summary).values() for line in lines]
    text = " ".join(line.removeprefix("Failed: ") for line in lines if line not in NOTHING)
    for label in (" (changed)", " (read)", "failed (no output)"):
        text = text.replace(label, "")
    text = text.casefold()
    return [word for word in re.findall(r"\w+", text) if word not in source]


BILLING = [
    user(
        "Please migrate the billing service to Postgres 16. Never touch the `legacy_invoices` table, "
        "and do not restart prod-db-2.acme.io:5432. Ticket BILL-4471, commit 9f8e7d6c5b4a."
    ),
    assistant("Looking at the schema.", "c1"),
    result("c1", "create table invoices (id uuid)"),
    assistant("", "c2"),
    result("c2", "pg_dump: FATAL: too many connections", isError=True),
    assistant(
        "I decided to use logical replication instead of pg_dump. This is because the dump would "
        "lock invoices for about 40 minutes. I will write the cutover runbook next."
    ),
    user("Use port 6432 for pgbouncer. Also, can you check why test_invoice_rounding fails?"),
    assistant("It passes now: round.py used float. Still open: 3/7 tables are not replicated."),
    user("Finish these and tell me when the lag of 550e8400-e29b-41d4-a716-446655440000 is low."),
]
CHINESE = [
    user(
        "把结算服务迁移到 Postgres 16。千万不要改动 legacy_invoices 表，必须在十二月五日之前完成。"
    ),
    assistant("我决定采用逻辑复制，因为导出会锁表四十分钟。接下来我会写切换手册。"),
    user("顺便看看四舍五入的测试。文件 /srv/billing/round.py，工单 20260514。"),
    assistant("测试已经通过。剩余三张表未完成。"),
    user("继续完成剩下的表，延迟低于五秒时告诉我。"),
]
JAPANESE = [
    user("請求サービスを移行してください。請求書テーブルは絶対に変更しないでください。"),
    assistant("論理レプリケーションを採用することにしました。次に手順書を書きます。"),
    user("残りのテーブルを完了してください。チケットは 20260514 です。"),
]
KOREAN = [
    user("결제 서비스를 이전해 주세요. 청구서 테이블은 절대 변경하지 마세요."),
    assistant("논리 복제를 선택했습니다. 다음 단계는 문서를 쓰는 것입니다."),
    user("남은 테이블을 완료해 주세요. 번호는 20260514 입니다."),
]
ARABIC = [
    user("انقل خدمة الفواتير. ممنوع تغيير جدول الفواتير القديم."),
    assistant("قررنا استخدام النسخ المنطقي."),
    user("أكمل الجداول المتبقية رقم 20260514 اليوم."),
]
RUSSIAN = [
    user("Перенеси сервис счетов. Никогда не трогай старую таблицу."),
    assistant("Решили использовать логическую репликацию, потому что дамп блокирует таблицу."),
    user("Заверши оставшиеся таблицы, номер 20260514."),
]
LANGUAGES = {
    "English": BILLING,
    "Chinese": CHINESE,
    "Japanese": JAPANESE,
    "Korean": KOREAN,
    "Arabic": ARABIC,
    "Russian": RUSSIAN,
}
