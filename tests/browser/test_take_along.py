"""Tables and drawings are saved from the page as they stand there."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page

from sessions_app.models import Team
from tests.compaction_app.audited import audited

pytestmark = pytest.mark.django_db(transaction=True)


def saved(page: Page, name: str) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name).first.click()
    return Path(waiting.value.path())


def test_the_parts_of_a_call_are_taken_along(page: Page, owner: User) -> None:
    session = audited(Team.objects.get(), "prune-cache-ttl")
    page.goto(f"/sessions/{session.uuid}/context/14/")
    rows = json.loads(saved(page, "Table as JSON: table").read_text())
    lines = list(csv.DictReader(StringIO(saved(page, "Table as CSV: table").read_text())))
    assert len(rows) == len(lines) > 0
    drawing = saved(page, "Drawing as SVG: parts by estimated tokens").read_text()
    assert drawing.startswith("<svg") and "class=" not in drawing and 'fill="rgb' in drawing
    png = saved(page, "Drawing as PNG: parts by estimated tokens").read_bytes()
    assert png.startswith(b"\x89PNG") and len(png) > 2_000
