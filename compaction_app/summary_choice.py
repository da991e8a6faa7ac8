"""How large simulated summaries are, as an address says it, and as a session's texts tell it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final
from uuid import UUID

import numpy as np

from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.engine.replay import Replay
from compaction_app.engine.stripped import stripped_rows
from compaction_app.engine.summary_sizes import (
    CHOICES,
    LARGEST_TOKENS,
    SOURCE_TITLES,
    SUMMARY_CAP_TOKENS,
    Measure,
    SummaryChoice,
)
from compaction_app.summarisers.extractive import extractive_summary
from sessions_app.models import Session, Window
from sessions_app.rows import messages_of
from sessions_app.tokens.javascript import utf16_len
from sessions_app.tokens.message_tokens import tokens_of_chars
from sessions_app.transcripts.columns import BASH, INNER, OTHER
from sessions_app.transcripts.timeline import Timeline

SOURCE: Final = "summary"
TOKENS: Final = "summaryTokens"
"""What an address calls the source of the sizes, and a size for all."""

MOST_MESSAGES: Final = 2_000
MOST_TOKENS: Final = 100_000
"""The summariser without a model is measured on the session's first messages, as many as make so many
estimated tokens; longer conversations fill their summaries anyway."""

RESERVE: Final = SUMMARY_CAP_TOKENS * 2
KEPT: Final = 64

_measured: OrderedDict[tuple[UUID, int, int | None], int] = OrderedDict()
_lock = Lock()


def read_choice(values: Mapping[str, str], problems: dict[str, str]) -> SummaryChoice:
    """The choice of a query; what was refused is told in ``problems`` and left as known."""
    source, text = values.get(SOURCE, ""), values.get(TOKENS, "")
    if source and source not in CHOICES:
        known = ", ".join(CHOICES)
        problems[SOURCE] = f"{SOURCE}: there is no {source[:50]!r}; known: {known}."
        source = ""
    if text == "":
        return SummaryChoice(source)
    tokens = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if not 1 <= tokens <= LARGEST_TOKENS:
        problems[TOKENS] = (
            f"{TOKENS}: a whole number of tokens from 1 to {LARGEST_TOKENS:,}, not {text[:50]!r}."
        )
        return SummaryChoice(source)
    return SummaryChoice(source, tokens)


def choice_values(choice: SummaryChoice) -> dict[str, str]:
    """The choice as an address spells it; nothing where nothing was chosen."""
    values = {SOURCE: choice.source, TOKENS: "" if choice.tokens is None else str(choice.tokens)}
    return {name: value for name, value in values.items() if value}


def told_sizes(done: Replay) -> str:
    """How large the summaries of a what-if are and where that comes from, in one sentence."""
    title, sizes = SOURCE_TITLES[done.summaries.source], done.summary_tokens
    if not sizes:
        return f"No summary is simulated; its size would come from: {title}."
    text = f"{sizes[0]:,}" if len(set(sizes)) == 1 else f"{min(sizes):,} to {max(sizes):,}"
    recorded = done.summaries.recorded
    then = f", then their median, {done.summaries.one:,}" if len(sizes) > len(recorded) > 0 else ""
    return f"Simulated summaries have {text} estimated tokens; size from: {title}{then}."


def kept_size(session: Session, window: Window) -> Measure | None:
    """The size that was measured when the session came in; none where it was not: no page reads texts
    for it."""
    kept = session.summary.get("extractive") or {}
    tokens = kept.get("tokens")
    if kept.get("window") != str(window.uuid) or not isinstance(tokens, int):
        return None
    return lambda: tokens


def size_to_keep(window: Window, grown: Timeline) -> dict[str, Any]:
    """As it is kept with a session; empty where its own compactions tell the size."""
    if len(grown.compactions.place) or not grown.calls:
        return {}
    return {"window": str(window.uuid), "tokens": extractive_tokens(window, grown, None)}


def extractive_tokens(window: Window, grown: Timeline, leaf: int | None) -> int:
    """How large the summariser without a model writes its summary of a stored session: its first
    messages are read, once."""
    rows = grown.columns
    is_message = (rows.kind > OTHER) & (rows.kind <= max(BASH, INNER)) & ~stripped_rows(rows)
    places = np.flatnonzero(is_message)[:MOST_MESSAGES]
    within = int((np.cumsum(rows.tokens[places]) <= MOST_TOKENS).sum())
    places = places[: max(within, 1)]
    key = (window.uuid, len(places), leaf)
    with _lock:
        if key in _measured:
            return _measured[key]
    messages = [message for _, message in messages_of(window, grown.branch[places].tolist())]
    tokens = tokens_of_chars(utf16_len(extractive_summary(ModelCall(messages, RESERVE))))
    with _lock:
        _measured[key] = tokens
        while len(_measured) > KEPT:
            _measured.popitem(last=False)
    return tokens
