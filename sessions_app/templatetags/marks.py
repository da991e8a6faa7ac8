"""The markers of a chart: hundreds of small shapes, which a template loop writes ten times as slowly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from sessions_app.drawing.growth import DrawnMark

register = template.Library()

COMPACTION: Final = mark_safe('<path d="M-6-5H6L0 6Z"/>')
SHAPES: Final[Mapping[str, SafeString]] = {
    "flush": mark_safe('<circle r="5"/>'),
    "truncate": mark_safe('<path d="M-4 0H4M0-4V4"/>'),
    "prune": mark_safe('<path d="M-4-4H4V4H-4Z"/>'),
    "guard": mark_safe('<path d="M-4-4 4 4M-4 4 4-4"/>'),
}
MARK: Final = (
    '<svg x="{}" y="{}" class="at"><a href="{}" class="mark {}"><title>{}</title>{}</a></svg>'
)


@register.simple_tag
def chart_marks(marks: Iterable[DrawnMark]) -> SafeString:
    """Each marker as a link with its title."""
    return format_html_join(
        "\n",
        MARK,
        (
            (
                drawn.x,
                drawn.y,
                drawn.mark.target,
                drawn.mark.kind,
                drawn.mark.title,
                SHAPES.get(drawn.mark.shape, COMPACTION),
            )
            for drawn in marks
        ),
    )
