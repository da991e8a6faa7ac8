"""What went wrong in logs, diffs, tables and mixed texts, and was mended since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from compaction_app.engine.retention.anchors import AnchorKind

Wordings = Mapping[str, tuple[str, ...]]

_CONSTRAINTS: Final[Wordings] = {
    "en": (
        "| never deploy {name} on a Friday | because nobody is there |",
        "It must be possible to undo every change of {name}.",
        "Never write secrets into {path}; it is public.",
    ),
    "zh": (
        "| 禁止直接推送到 {name} | 需要评审 |",
        "千万别重启 {name}！",
        "不得修改 {path}。",
    ),
}
_NO_CONSTRAINTS: Final[Wordings] = {
    "en": (
        "He must be joking about {name}.",
        "You must be mistaken, {name} was never there.",
        '"Don\'t panic" is what {name} prints when it starts.',
        '"Always on" is the name of the plan that {name} has.',
    ),
    "zh": (
        "{name} 不得不重启了一次。",
        "我不得不说 {name} 做得很好。",
        "为什么会这样，{path} 的人不得而知。",
    ),
}
_DECISIONS: Final[Wordings] = {
    "en": ("We decided to keep {path} because the reviewers know it.",),
    "zh": ("我们决定用 {name}，因为别的都太重。",),
}
_NO_DECISIONS: Final[Wordings] = {
    "en": ("Nobody decided anything about {name} yet.",),
    "zh": ("关于 {name} 还没有决定。",),
}
_PROMISES: Final[Wordings] = {
    "en": ("| 2 | TODO: write the docs of {name} |", "| open | TODO: test {path} |"),
    "zh": ("| 3 | 待办：给 {name} 写文档 |",),
}
_NO_PROMISES: Final[Wordings] = {
    "en": ("| 1 | the docs of {name} | done |",),
    "zh": ("| 1 | {name} 的文档 | 已完成 |",),
}

STATEMENTS: Final[Mapping[AnchorKind, tuple[Wordings, Wordings]]] = {
    "constraint": (_CONSTRAINTS, _NO_CONSTRAINTS),
    "decision": (_DECISIONS, _NO_DECISIONS),
    "promise": (_PROMISES, _NO_PROMISES),
}

FRAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("| {x} | seen | twice |", "WARN [worker-3] {x} (attempt no. four)"),
    "zh": ("请看 {x}（见下）。", "| 名称 | {x} | 说明 |"),
    "code": ("+    use('{x}')", "  - {{name: {x}}}", "at step one ({x})"),
}

DECOYS: Final[Mapping[AnchorKind, tuple[str, ...]]] = {
    "path": ("30/Nov/2026", "1/Dec/2026", "12/Jan/2027"),
    "uuid": ("0000-1111",),
    "hash": ("#ff00aa", "feedface"),
    "url": ("https:",),
    "host_port": ("12:01", "main:12"),
    "version": ("01.12.2026",),
    "ticket": ("SHA-1", "UTF-8"),
    "quantity": ("3rd", "no. 4"),
}

ACTIONS: Final = ("exec rm -f {x}", "read path")
NO_ACTIONS: Final = ("exec ls {x}",)
ERRORS: Final = ("connect ECONNREFUSED: error: {name} is down",)
NO_ERRORS: Final = ("{name} is up",)
ASKS: Final = ("Can you look at {name}?",)
NO_ASKS: Final = ("I looked at {name}.",)
