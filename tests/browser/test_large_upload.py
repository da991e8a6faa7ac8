"""A file too large to import at once: a real worker does it while the page shows how far it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.bench.sessions import long_session
from tests.services.conftest import free_port
from tests.services.processes import Program

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.timeout(240)]


def test_a_large_upload_is_imported_by_the_worker(browser: Browser, tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    large.write_bytes(b"".join(long_session(1_200)))
    with Program(["manage.py", "up"], tmp_path / "data", PORT=str(free_port())) as site:
        link = site.wait_for(r"http://127\.0\.0\.1:\d+/login/\S+", 120)[0]
        context = browser.new_context()
        page = context.new_page()
        page.goto(link)
        page.locator("main form button").first.click()
        page.wait_for_url(re.compile(r":\d+/$"))
        expect(page.locator("#sessions")).to_contain_text("pi-v3-1-two-compactions")
        page.set_input_files("#files", large)
        opened = page.locator("#imports a", has_text="open")
        expect(opened).to_be_visible(timeout=60_000)
        opened.click()
        expect(page.locator("h1")).to_have_text("large")
        expect(page.locator(".facts")).to_contain_text("185,014")
        context.close()
        site.end()
