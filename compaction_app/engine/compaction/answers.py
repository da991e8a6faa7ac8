"""What a compaction was answered, as plain values, so that it can be run again exactly.

Each answer stands beside a digest of what was asked. Run again, a question is given the answer that
stands next if it is the very same question; from the first one on that is another, somebody else has
to answer, and the run is no exact one any more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from compaction_app.engine.compaction.drive import Means, answer_by
from compaction_app.engine.compaction.failures import Failure
from compaction_app.engine.compaction.requests import (
    NOT_REGISTERED,
    CredentialsAnswer,
    NotRegistered,
    Request,
    Result,
    Steps,
)

DIGEST_CHARS: Final = 16
Kept = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Again:
    """A run that was made again; ``left`` counts the kept answers that nobody asked for, ``new`` the
    questions that were not among the kept ones."""

    left: int
    new: int

    @property
    def is_exact(self) -> bool:
        return not self.left and not self.new


def recorded(steps: Steps[Result], kept: list[Kept]) -> Steps[Result]:
    """The same rules; what they ask and are answered is added to ``kept``."""
    answer: Any = None
    try:
        while True:
            request = steps.send(answer)
            answer = yield request
            kept.append({"asked": asked(request), "answer": plain(answer)})
    except StopIteration as end:
        result: Result = end.value
        return result


def run_again(steps: Steps[Result], kept: Sequence[Kept], otherwise: Means) -> tuple[Result, Again]:
    """The result of the rules with the kept answers, as long as they fit."""
    answer: Any = None
    at = new = 0
    try:
        while True:
            request = steps.send(answer)
            if not new and at < len(kept) and kept[at]["asked"] == asked(request):
                answer = meant(kept[at]["answer"])
                at += 1
            else:
                new += 1
                otherwise.before(request)
                answer = answer_by(otherwise, request)
    except StopIteration as end:
        return end.value, Again(len(kept) - at, new)


def asked(request: Request) -> str:
    """What a request is known by: its kind, and a digest of all that it says."""
    said = json.dumps(asdict(request), default=str, sort_keys=True)
    digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{type(request).__name__} {digest[:DIGEST_CHARS]}"


def plain(answer: Any) -> Any:
    """An answer as a JSON value."""
    match answer:
        case Failure():
            cause = plain(answer.cause) if answer.cause is not None else None
            return {"failure": {"name": answer.name, "message": answer.message, "cause": cause}}
        case NotRegistered():
            return {"notRegistered": True}
        case CredentialsAnswer():
            return {"credentials": asdict(answer)}
        case tuple() | list():
            return [plain(one) for one in answer]
        case str() | int() | float() | None:
            return answer
    return {"other": json.loads(json.dumps(answer, default=str))}


def meant(value: Any) -> Any:
    """The answer that :func:`plain` wrote."""
    if isinstance(value, list):
        return tuple(meant(one) for one in value)
    if not isinstance(value, dict):
        return value
    if "failure" in value:
        said = value["failure"]
        cause = meant(said["cause"]) if said["cause"] is not None else None
        return Failure(said["name"], said["message"], cause)
    if "credentials" in value:
        return CredentialsAnswer(**value["credentials"])
    return NOT_REGISTERED if "notRegistered" in value else value["other"]
