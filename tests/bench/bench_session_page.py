"""The session page with 10,000 entries: time to the page, its size, from a slider to the new chart.

Measured in Chromium against the server as it runs in production, from the input event to the frame
after the swapped chart was painted.
"""

from __future__ import annotations

import os
import re
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.bench.sessions import long_session
from tests.browser.chromium import QUIET, chromium
from tests.services.conftest import free_port
from tests.services.processes import Program

ENTRIES = 10_000
MOVES = 40
WARM_UP_MOVES = 5

MOVE = """
async ([id, value]) => {
  const slider = document.querySelector(`[data-for="${id}"]`);
  const start = performance.now();
  const painted = new Promise((resolve) => {
    const swapped = (event) => {
      if (event.detail.target.id !== "result") return;
      document.removeEventListener("htmx:afterSwap", swapped);
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
    };
    document.addEventListener("htmx:afterSwap", swapped);
  });
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  return painted;
}
"""


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        transcript = data / "long.jsonl"
        transcript.write_bytes(b"".join(long_session(ENTRIES)))
        port = str(free_port())
        settings = {"PORT": port, "LOG_LEVEL": "WARNING"}
        with Program(["manage.py", "up"], data, **settings) as site:
            link = site.wait_for(r"http://127\.0\.0\.1:\d+/login/\S+", 120)[0]
            with Program(
                ["manage.py", "import_sessions", str(transcript)], data, **settings
            ) as run:
                assert run.process.wait(timeout=300) == 0, run.output()
            results = _in_browser(link, port)
            site.end()
    return results


def _in_browser(link: str, port: str) -> list[dict[str, Any]]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(QUIET))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(link)
        if (button := page.locator("main form button")).count():
            button.first.click()
        page.goto(f"http://127.0.0.1:{port}/?q=long")
        page.locator("#sessions a", has_text=re.compile("^long")).first.click()
        page.wait_for_selector("figure.growth")
        address = page.url
        loads = [_load(page, address) for _ in range(5)]
        moves = _moves(page)
        browser.close()
    return [
        _result("page of 10,000 entries", statistics.median(t for t, _ in loads), "ms", 1000),
        _result("its transfer, compressed", max(size for _, size in loads) / 1000, "KB", 300),
        _result(
            "slider to redrawn chart, median",
            statistics.median(moves),
            "ms",
            100,
            f"{len(moves)} moves",
        ),
        _result("slider to redrawn chart, 95th", sorted(moves)[int(len(moves) * 0.95)], "ms", 200),
    ]


def _load(page: Page, address: str) -> tuple[float, float]:
    """Milliseconds until everything is loaded, and bytes that came over the wire for the page."""
    page.goto("about:blank")
    page.goto(address, wait_until="load")
    timing = page.evaluate(
        "() => { const n = performance.getEntriesByType('navigation')[0];"
        " return [n.loadEventEnd - n.startTime, n.transferSize]; }"
    )
    return timing[0], timing[1]


def _moves(page: Page) -> list[float]:
    times = []
    for number in range(MOVES + WARM_UP_MOVES):
        value = 10_000 + 1_700 * number
        times.append(page.evaluate(MOVE, ["k-reserve_tokens_floor", str(value)]))
    return times[WARM_UP_MOVES:]


def _result(name: str, value: float, unit: str, goal: float, detail: str = "") -> dict[str, Any]:
    return {
        "name": f"session page: {name}",
        "value": round(value, 1),
        "unit": unit,
        "goal": f"< {goal} {unit}",
        "ok": value < goal,
        "detail": detail or f"{os.cpu_count()} cores",
    }
