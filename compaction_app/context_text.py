"""One call's context as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from compaction_app.context_at_call import Row, ToldContext, system_title

EXCERPT = 60


def context_lines(told: ToldContext) -> Iterator[str]:
    """The call, its parts in the order in which they are sent, and where the cached beginning ends."""
    call = told.call
    kind = ", of a flush turn" if call.run == "flush" else ""
    yield f"Context at call {call.number} of {told.calls}{kind}"
    if told.problem:
        yield told.problem
    yield (
        f"estimated {_known(told.tokens)} tokens, of them messages {_known(told.message_tokens)}; "
        f"by the vocabulary {_known(told.message_exact)}; billed {_known(told.bill.prompt)}, of them "
        f"from the cache {_known(told.bill.cache_read)}"
    )
    yield f"agreement: {told.agreement.text}"
    yield ""
    yield f"System prompt and tools ({told.system.known})"
    for part in told.system.parts:
        note = f"  {part.note}" if part.note else ""
        yield f"{_known(part.tokens):>10}  {system_title(part)}{note}"
    if call.request is None:
        return
    yield ""
    yield "Messages: estimated tokens, characters as sent, since the call before"
    for row in told.rows:
        if told.prefix and told.prefix.broken_at == row.part.position:
            yield f"{'':>10}  --- the cache-stable beginning ends here: {told.broken_by}"
        yield from _row(row)
    if told.step:
        yield f"{len(told.step.removed):,} removed since the call before"


def _row(row: Row) -> Iterator[str]:
    part = row.part
    name = " ".join(filter(None, (part.kind, part.tool)))
    sources = ",".join(map(str, part.sources)) or "runtime"
    yield (
        f"{part.tokens:>10,}  {part.position:>4} {name} [{sources}] {part.after:,} chars "
        f"{row.fate or ''}  {row.excerpt[:EXCERPT]}"
    ).rstrip()
    for change in part.changes:
        yield f"{'':>16} {change.rule}: {change.before_chars:,} -> {change.after_chars:,} characters"


def _known(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"
