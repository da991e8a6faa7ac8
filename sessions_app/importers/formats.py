"""The formats there are, and which of them a file is of: told by what stands in it, never by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from sessions_app.importers import claude_code, codex, gemini_cli, kimi, openclaw, plain, swe_agent
from sessions_app.importers.records import Record
from sessions_app.importers.translation import Translator
from sessions_app.transcripts.transcript import Problem

FIRST_LINES: Final = 20
"""How many lines may pass before a file must have shown what it is."""


class NotATranscript(ValueError):
    """The file is of no known format; the message says what was looked for."""


@dataclass(frozen=True, slots=True)
class Format:
    """``title`` is for people, ``sign`` what a record of it looks like. Without a translator the
    records are session records already; with ``documents`` one may fill the whole file."""

    name: str
    title: str
    sign: str
    looks_like: Callable[[dict[str, Any]], bool]
    translator: Callable[[], Translator] | None = None
    documents: bool = False


OPENCLAW: Final = Format(
    "openclaw", "OpenClaw or pi", '{"type": "session", ...}', openclaw.looks_like
)
FORMATS: Final = (
    OPENCLAW,
    Format(
        claude_code.NAME,
        "Claude Code",
        '{"type": "user", "uuid": ..., "parentUuid": ...}',
        claude_code.looks_like,
        claude_code.ClaudeCode,
    ),
    Format(
        codex.NAME,
        "Codex",
        '{"type": "session_meta", "payload": ...}',
        codex.looks_like,
        codex.Codex,
    ),
    Format(
        kimi.NAME,
        "Kimi",
        '{"type": "metadata", "protocol_version": ...}',
        kimi.looks_like,
        kimi.Kimi,
    ),
    Format(
        gemini_cli.NAME,
        "Gemini CLI",
        '{"sessionId": ..., "projectHash": ...}',
        gemini_cli.looks_like,
        gemini_cli.GeminiCli,
        documents=True,
    ),
    Format(
        swe_agent.NAME,
        "SWE-agent",
        '{"trajectory": [...], "history": [...]}',
        swe_agent.looks_like,
        swe_agent.SweAgent,
        documents=True,
    ),
    Format(
        plain.NAME, "plain messages", '{"role": ..., "content": ...}', plain.looks_like, plain.Plain
    ),
)
BY_NAME: Final = {form.name: form for form in FORMATS}
TITLES: Final = {**{form.name: form.title for form in FORMATS}, "openclaw": "OpenClaw", "pi": "pi"}


def detect(found: Iterable[Record | Problem]) -> Format | None:
    """The format of the first record that is of one, none where no record is."""
    for item in found:
        if isinstance(item, Record):
            for form in FORMATS:
                if form.looks_like(item.value):
                    return form
    return None


UTF_16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
NUL_SHARE: Final = 0.2
"""Text in UTF-16 of which so much is ASCII has NUL for every second byte of it."""


def refusal_of(beginning: bytes) -> NotATranscript:
    """Why a file cannot be a transcript, told by its first bytes."""
    if not beginning.strip():
        return NotATranscript("The file is empty: there is no session in it.")
    nul = beginning.count(0)
    lines_up = max(beginning[::2].count(0), beginning[1::2].count(0)) > 0.9 * nul
    if beginning.startswith(UTF_16_MARKS) or (nul > NUL_SHARE * len(beginning) and lines_up):
        return NotATranscript(
            "The file is text in UTF-16; transcripts are UTF-8. Save it as UTF-8 (iconv -f UTF-16 -t UTF-8 "
            "FILE > NEW) and bring the new file in."
        )
    if nul or _is_not_utf8(beginning):
        return NotATranscript(
            "The file is binary, not text: a transcript is lines of JSON, and packed ones (.gz, .zip) have to "
            "be unpacked first."
        )
    return refusal()


def _is_not_utf8(beginning: bytes) -> bool:
    """Whether more than a character that the beginning cuts in two cannot be read."""
    try:
        beginning.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start < len(beginning) - 3
    return False


def refusal(why: str = "") -> NotATranscript:
    """One sentence that names what was looked for."""
    known = ", ".join(f"{form.title} ({form.sign})" for form in FORMATS)
    return NotATranscript(
        f"No session transcript{why}: nothing in its first {FIRST_LINES} lines is a record of a known "
        f"format: {known}."
    )
