"""What each call of a model did, in the order in which they were begun, for the record."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from compaction_app.engine.compaction.failures import Failure
from compaction_app.summarisers.asking import Asked
from sessions_app.rows import storable_json

MAX_ANSWER_CHARS = 20_000

CallRow = dict[str, Any]


class CallLog:
    """Rows of calls. Several may go on at once, each in a thread of its own: a client that says what
    it met (:meth:`asked`) speaks of the call that its thread is :meth:`making`."""

    def __init__(self) -> None:
        self.rows: list[CallRow] = []
        self._own = threading.local()

    def begin(self, what: Mapping[str, Any]) -> CallRow:
        """A call is about to be made; ``what`` describes it."""
        row: CallRow = {"number": len(self.rows) + 1, **what}
        self.rows.append(row)
        return row

    @contextmanager
    def making(self, row: CallRow) -> Iterator[None]:
        """While this thread makes the call; measures how long it takes."""
        self._own.row, began = row, time.monotonic()
        try:
            yield
        finally:
            row["seconds"] = round(time.monotonic() - began, 3)

    def asked(self, asked: Asked) -> None:
        """What the client of a model says of the call that this thread makes."""
        usage = getattr(asked.answer, "usage", None)
        row: CallRow = self._own.row
        row |= {
            "tries": [
                {
                    "number": one.number,
                    "outcome": one.outcome,
                    "status": one.status,
                    "error": one.error,
                    "delayMs": one.delay_ms,
                    "seconds": one.seconds,
                }
                for one in asked.tries
            ],
            "promptTokens": usage.prompt if usage else None,
            "outputTokens": usage.output if usage else None,
            "cost": None if asked.cost is None else str(asked.cost),
        }
        if asked.advice:
            row["advice"] = asked.advice

    def advised(self, message: str) -> str:
        """A failure's message with what is to be done about the newest call that failed, if one did."""
        advice = next((row["advice"] for row in reversed(self.rows) if "advice" in row), "")
        return f"{message} {advice}".strip()

    def failed(self) -> int:
        """How many calls have failed."""
        return sum("error" in row for row in self.rows)

    def stored(self) -> list[Any]:
        """The rows as a record keeps them."""
        rows: list[Any] = storable_json(self.rows)
        return rows

    def cost(self) -> Decimal | None:
        """US dollars of all calls; none where that of one is unknown, or there were none."""
        costs = [row.get("cost") for row in self.rows]
        if not costs or None in costs:
            return None
        return sum((Decimal(cost) for cost in costs if cost is not None), Decimal(0))


def ended(row: CallRow, answer: str | Failure | None) -> None:
    """What came of a call."""
    if isinstance(answer, Failure):
        row["error"] = {"name": answer.name, "message": answer.message}
    else:
        text = answer or ""
        row |= {"answerChars": len(text), "answer": text[:MAX_ANSWER_CHARS]}
