"""The page of a live session follows its agent, and leaves the knobs where they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.services.conftest import free_port
from tests.services.processes import Program

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def agent(data: Path, *arguments: str) -> str:
    """Runs the agent once, in a process of its own; what it printed last."""
    with Program(["-m", "tests.browser.live_agent", *arguments], data) as program:
        assert program.process.wait(60) == 0, program.output()
        return program.output().strip().rpartition("\n")[2]


def log_in(page: Page, link: str) -> None:
    page.goto(link)
    page.locator("main form button").first.click()
    page.wait_for_load_state()


def test_the_page_follows_what_the_agent_appends(browser: Browser, tmp_path: Path) -> None:
    port = str(free_port())
    with Program(["manage.py", "up"], tmp_path, PORT=port, LOG_LEVEL="WARNING") as site:
        link = site.wait_for(r"http://127\.0\.0\.1:\d+/login/\S+", 120)[0]
        session = agent(tmp_path)
        page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-US")
        log_in(page, link)
        page.goto(f"http://127.0.0.1:{port}/sessions/{session}/")
        facts, entries = page.locator("#facts"), page.locator("#entries")
        expect(facts).to_contain_text("1 model call")
        floor = page.locator("#k-reserve_tokens_floor")
        floor.fill("12345")
        for number in (2, 3):
            agent(tmp_path, session, str(number))
            expect(facts).to_contain_text(f"{number} model calls", timeout=20_000)
            expect(entries).to_contain_text(f"question {number}", timeout=20_000)
        assert floor.input_value() == "12345"
        site.end()
