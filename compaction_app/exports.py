"""What can be taken along: a chart as a drawing, the events as a table, a session's report as one file.

A report holds no text of a message unless it is asked for; what is held is masked as on every page.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from django.template.loader import render_to_string

from compaction_app.engine.reasons import sentence
from compaction_app.forms import Query
from compaction_app.pictures import standalone
from compaction_app.recorded import Happening
from compaction_app.runs import Situation
from compaction_app.session_page import chart_context, details_context, head_context
from sessions_app.drawing.growth import Chart
from sessions_app.masking import mask, mask_beginning

CHART_SIZE: Final = (1080, 470)
LEGEND_STEP: Final = 270
EVENT_COLUMNS: Final = (
    "call", "turn", "kind", "source", "reason", "why", "before", "after", "threshold", "unit", "flushedBefore",
)  # fmt: skip
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def chart_picture(chart: Chart, title: str) -> str:
    """The growth chart as an SVG document."""
    legend = [
        (curve, place * LEGEND_STEP)
        for place, curve in enumerate(curve for curve in chart.curves if curve.path)
    ]
    body = render_to_string("compaction/_growth_svg.html", {"chart": chart, "legend": legend})
    return standalone(body, *CHART_SIZE, mask(title), "drawn")


def event_rows(events: Iterable[Happening]) -> list[dict[str, Any]]:
    """Recorded and simulated events as plain rows; what is not known is none."""
    return [
        dict(
            zip(
                EVENT_COLUMNS,
                (
                    event.call,
                    event.turn,
                    event.kind,
                    "what-if" if event.simulated else "recorded",
                    event.reason,
                    sentence(event.reason),
                    event.before,
                    event.after,
                    event.threshold,
                    event.unit or None,
                    event.flushed_before,
                ),
                strict=True,
            )
        )
        for event in events
    ]


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of the same keys as CSV; a text that a spreadsheet would run as a formula is quoted."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return out.getvalue()


def as_json(rows: Sequence[dict[str, Any]]) -> str:
    return json.dumps(list(rows), indent=1, ensure_ascii=False)


def report_page(situation: Situation, query: Query, *, with_texts: bool) -> str:
    """The report as one HTML document that needs nothing else."""
    context = chart_context(situation, query)
    context |= details_context(situation, query) | head_context(situation, query)
    context |= {
        "session": situation.session,
        "around": query.around,
        "picture": chart_picture(context["chart"], situation.session.title)
        if context["chart"].calls
        else "",
        "with_texts": with_texts,
        "entries": list(_entries(situation, with_texts=with_texts)),
    }
    return render_to_string("compaction/report.html", context)


def _entries(situation: Situation, *, with_texts: bool) -> Iterable[dict[str, Any]]:
    """Every entry with its size; its beginning only when asked for."""
    fields = ("seq", "line", "type", "role", "mark", "tool_name", "tokens", "images", "excerpt")
    for row in situation.window.entries.order_by("seq").values(*fields).iterator():
        yield row | {"excerpt": mask_beginning(row["excerpt"]) if with_texts else ""}


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
