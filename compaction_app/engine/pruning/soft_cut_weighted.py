"""How one tool result is cut for one model call since 2026.9 (spec profiles 5.5).

The hard cut's own rule, with every unit weighing at least two. Images stay as long as they fit beside
a text that is not emptied for them; a note says how many did not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction_app.engine.pruning.change import block_text
from compaction_app.engine.pruning.truncate_weighted import Cutting, cut_message, cut_text
from compaction_app.engine.pruning.truncation_rules import TruncationRules
from sessions_app.tokens import javascript as js
from sessions_app.tokens.loop_chars import RESULT_WEIGHT, LoopCharRules, result_weight

Blocks = Sequence[Any]


def images_note(left_out: int, kept: int) -> str:
    """What stands for the images that did not fit."""
    images = "1 image" if left_out == 1 else f"{left_out} images"
    none_fits = "" if kept else "; no images fit the context limit"
    return f"[{images} omitted from context{none_fits}; rerun with fewer images]"


def cut_content(
    message: Mapping[str, Any], limit: float, rules: TruncationRules, chars: LoopCharRules
) -> dict[str, Any]:
    """``message`` with its content cut to weigh at most ``limit``, and without details."""
    new = {key: value for key, value in message.items() if key != "details"}
    content = message.get("content")
    if isinstance(content, list):
        new["content"] = _cut_blocks(content, limit, rules, chars)
    else:
        new["content"] = _cut_text(content if isinstance(content, str) else "", limit, rules)
    return new


def _cut_text(text: str, limit: float, rules: TruncationRules) -> str:
    return cut_text(text, limit, Cutting(rules, rules.notice, 0, RESULT_WEIGHT))


def _cut_blocks(
    content: Blocks, limit: float, rules: TruncationRules, chars: LoopCharRules
) -> list[Any]:
    images = sum(map(_is_image, content))
    # Where images are about, the runtime spares no small text (seen in its answers, not in a text).
    cutting = Cutting(
        rules, rules.notice, rules.min_keep_chars, RESULT_WEIGHT, spares_small=not images
    )
    for kept in range(_fitting_images(images, limit, chars), -1, -1):
        note = [_text_block(images_note(images - kept, kept))] if kept < images else []
        cut = _cut_beside(_with_images(content, kept), note, limit, cutting, chars)
        if cut is not None:
            return cut
    texts = [block for block in content if block_text(block) is not None]
    note = [_text_block(images_note(images, 0) if images else rules.notice(1))]
    return [*_cut_texts(texts, limit - result_weight(note, chars), cutting), *note]


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _fitting_images(images: int, limit: float, chars: LoopCharRules) -> int:
    fitting = js.floor(limit / (RESULT_WEIGHT * chars.image_chars))
    return max(0, min(images, js.position(fitting)))


def _is_image(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "image"


def _with_images(content: Blocks, kept: int) -> list[Any]:
    """The blocks with only the first ``kept`` images."""
    images = [position for position, block in enumerate(content) if _is_image(block)]
    left_out = frozenset(images[kept:])
    return [block for position, block in enumerate(content) if position not in left_out]


def _cut_beside(
    blocks: Blocks, note: Blocks, limit: float, cutting: Cutting, chars: LoopCharRules
) -> list[Any] | None:
    """Blocks with their texts cut to what all else leaves; none where a text would be emptied."""
    others = [block for block in blocks if block_text(block) is None]
    cut = _cut_texts(blocks, limit - result_weight([*others, *note], chars), cutting)
    emptied = any(
        block_text(old) and not block_text(new) for old, new in zip(blocks, cut, strict=True)
    )
    whole = [*cut, *note]
    return None if emptied or result_weight(whole, chars) > limit else whole


def _cut_texts(blocks: Blocks, limit: float, cutting: Cutting) -> list[Any]:
    return list(cut_message({"content": list(blocks)}, limit, cutting)["content"])
