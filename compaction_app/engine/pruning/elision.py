"""A tool result whose text is given up because all results together are too large (spec profiles 5.6).

It says so in as many characters as are left for it; images and other blocks stay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from compaction_app.engine.pruning.change import block_text
from sessions_app.tokens import javascript as js

ELISION_TEXT: Final = (
    "[tool result elided: aggregate tool-result budget exceeded; "
    "rerun the command if the output is needed]"
)


def elided(message: Mapping[str, Any], max_chars: float = math.inf) -> dict[str, Any]:
    """The note as the result's text, block after block, ``max_chars`` in all."""
    left = js.position(max_chars)
    blocks = []
    for block in message["content"]:
        if block_text(block) is not None:
            note = js.utf16_slice(ELISION_TEXT, 0, max(0, left))
            left -= js.utf16_len(note)
            block = {**block, "text": note}
        blocks.append(block)
    return {**message, "content": blocks}
