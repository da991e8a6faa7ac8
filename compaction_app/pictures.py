"""Drawings as files of their own: the page's SVG with the rules of the style sheet that it needs.

The colours are those of the light theme, written out, so that any viewer shows them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from django.conf import settings
from django.template.loader import render_to_string

from sessions_app.drawing.ladder import Ladder

WIDTH: Final = 900
_MARGIN: Final = 16
_FONT: Final = 'font: 14px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif'
_RULE: Final = re.compile(r"([^{}]+)\{([^{}]*)\}")
_CLASS: Final = re.compile(r"\.([\w-]+)")
_USED: Final = re.compile(r'class="([^"]*)"')
_VARIABLE: Final = re.compile(r"(--[\w-]+):\s*([^;]+);")
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_MEDIA: Final = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_LIGHT: Final = re.compile(r"light-dark\(([^,()]+|[^()]*\([^()]*\)),[^()]*\)")


def ladder_picture(drawn: Ladder, title: str) -> str:
    """The lines of a window."""
    body = render_to_string("compaction/_ladder_svg.html", {"ladder": drawn})
    return standalone(body, WIDTH, drawn.height + 24, title, "ladder")


def stages_picture(moments: Sequence[tuple[str, Sequence[str]]], title: str) -> str:
    """Boxes from left to right: a moment each, with the stages that run at it."""
    shown = [
        (words, [stage.split(":")[0] for stage in stages]) for words, stages in moments if stages
    ]
    width = (WIDTH - _MARGIN) // len(shown)
    most = max(len(stages) for _, stages in shown)
    parts = []
    for number, (words, stages) in enumerate(shown):
        left = number * width
        parts.append(
            f'<rect x="{left}" y="22" width="{width - 14}" height="{most * 19 + 14}" rx="5" class="well"/>'
        )
        parts.append(f'<text x="{left}" y="13" class="unit">{escape(words)}</text>')
        parts += [
            f'<text x="{left + 8}" y="{43 + 19 * place}" class="stage">{escape(stage)}</text>'
            for place, stage in enumerate(stages)
        ]
        if number:
            parts.append(f'<path class="line off" d="M{left - 12} 34h9m-4 -4l4 4l-4 4"/>')
    return standalone("".join(parts), WIDTH, most * 19 + 44, title, "ladder")


def standalone(body: str, width: int, height: int, title: str, kind: str) -> str:
    """An SVG document: a title, the style it needs, a white ground, and the drawing."""
    whole, tall = width + 2 * _MARGIN, height + 2 * _MARGIN
    text = " ".join(body.split())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{tall}" viewBox="0 0 {whole} {tall}" '
        f'role="img"><title>{escape(title)}</title><style>{_style(_used(text) | {kind})}</style>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<svg x="{_MARGIN}" y="{_MARGIN}" width="{width}" height="{height}" overflow="visible" class="{kind}">'
        f"{text}</svg></svg>\n"
    )


def _used(body: str) -> frozenset[str]:
    return frozenset(name for names in _USED.findall(body) for name in names.split())


def _style(used: frozenset[str]) -> str:
    """The rules for the classes of a drawing, with the light colours in place of their names."""
    rules = [
        f"svg{{{_FONT};font-variant-numeric:tabular-nums}} .stage{{font-size:12px;fill:#1b1d1f}}"
    ]
    for selectors, body in _rules():
        kept = [
            each for each in selectors if (names := _CLASS.findall(each)) and used >= set(names)
        ]
        if kept:
            rules.append(f"{', '.join(kept)}{{{body}}}")
    return escape(" ".join(rules))


@cache
def _rules() -> tuple[tuple[tuple[str, ...], str], ...]:
    """The rules of the style sheet outside media queries: selectors, and their declarations."""
    path = Path(settings.BASE_DIR) / "static" / "css" / "site.css"
    sheet = _MEDIA.sub("", _COMMENT.sub("", path.read_text(encoding="utf-8")))
    colours = dict(_VARIABLE.findall(sheet))
    found = []
    for selectors, body in _RULE.findall(sheet):
        for name, value in colours.items():
            body = body.replace(f"var({name})", value.strip())
        parts = tuple(
            part.strip()
            for part in selectors.split(",")
            if ":" not in part and not part.startswith(("td", "th", "table"))
        )
        found.append((parts, _LIGHT.sub(_first, " ".join(body.split()))))
    return tuple(found)


def _first(match: re.Match[str]) -> str:
    return match[1].strip()
