"""An open session page shows what an agent writes meanwhile, without a reload."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from sessions_app.models import Session, Team
from sessions_app.watching import FolderWatch, folder_of
from tests.builders import jsonl, short_session

pytestmark = pytest.mark.django_db(transaction=True)

LINES = jsonl(*short_session(turns=4).records).splitlines(keepends=True)


def test_new_lines_appear_on_an_open_page(page: Page, owner: User, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_bytes(b"".join(LINES[:9]))
    watch = FolderWatch(folder_of(Team.objects.get(), tmp_path))
    list(watch.begin())
    watch.report(1)
    page.goto(f"/sessions/{Session.objects.get().uuid}/")
    expect(page.locator("#work .facts").first).to_contain_text("8 entries")
    with file.open("ab") as grown:
        grown.write(b"".join(LINES[9:]))
    assert watch.look([file]) == 1
    expect(page.locator("#work .facts").first).to_contain_text("16 entries", timeout=5_000)
    expect(page.locator("#entries")).to_contain_text("Question 3", timeout=5_000)


def test_the_page_of_watched_folders_looks_after_itself(
    page: Page, owner: User, tmp_path: Path
) -> None:
    page.goto("/watched/")
    expect(page.locator("#watched")).to_contain_text("No folder is watched")
    watch = FolderWatch(folder_of(Team.objects.get(), tmp_path))
    watch.report(0)
    expect(page.locator("#watched")).to_contain_text(str(tmp_path), timeout=5_000)
    page.get_by_role("button", name="Forget").click()
    expect(page.locator("#watched")).to_contain_text("No folder is watched")
