"""What a requester is to do with the result of a finished subagent (spec compaction 7).

The spec names three variants and what each asks for, a recorded run the end of one; the rest is our wording.
"""

from __future__ import annotations

from typing import Final, Literal

Requester = Literal["internal", "expecting", "any"]
INTERNAL: Final = (
    "Use this result in the task you were given; it is an update between sessions, not a message for a "
    "user. Reply ONLY: NO_REPLY when no update is needed."
)
EXPECTING: Final = (
    "The result above was waited for. Review it and send the user an update in your own words. Keep this "
    "internal context private (don't mention system/log/stats/session details or announce type). Reply "
    "ONLY: NO_REPLY when no user-facing update is needed."
)
ANY: Final = (
    "Review the result above and send the user an update in your own words. Keep this internal context "
    "private (don't mention system/log/stats/session details or announce type). Reply ONLY: NO_REPLY if "
    "this exact result was already delivered."
)
INSTRUCTIONS: Final[dict[Requester, str]] = {
    "internal": INTERNAL,
    "expecting": EXPECTING,
    "any": ANY,
}


def reply_instruction(*, for_session: bool, expects_completion: bool) -> str:
    """``for_session``: the requester is itself a subagent, or a scheduled run."""
    if for_session:
        return INSTRUCTIONS["internal"]
    return INSTRUCTIONS["expecting" if expects_completion else "any"]
