"""The main job in a browser: drop a session in, see it against its lines, move a knob."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import SAMPLES

pytestmark = pytest.mark.browser

KEEP_SMALL = SAMPLES / "keep-small-32k"


def upload(page: Page, *names: str) -> None:
    files = [path for name in names for path in KEEP_SMALL.glob(name)]
    page.goto("/")
    page.set_input_files("#files", files)
    expect(page.locator("figure.growth")).to_be_visible()


def move(page: Page, setting: str, value: int) -> None:
    """Move a slider as a hand does: it fires input events."""
    knob = page.locator(f'[name="{setting}"]')
    slider = page.locator(f'[data-for="{knob.get_attribute("id")}"]')
    slider.evaluate(
        "(slider, value) => { slider.value = value;"
        " slider.dispatchEvent(new Event('input', {bubbles: true})); }",
        str(value),
    )


def what_if(page: Page, row: str) -> str:
    return page.locator(f'#differences tr[data-row="{row}"] td').nth(2).inner_text()


def line_height(page: Page, name: str) -> float:
    path = page.locator(f'.growth path[data-line="{name}"]').get_attribute("d") or ""
    found = re.match(r"M0 ([\d.]+)H1000", path)
    assert found, path
    return float(found[1])


def line_tokens(page: Page, name: str) -> int:
    return int(page.locator(f'.growth path[data-line="{name}"]').get_attribute("data-tokens") or "")


def test_a_dropped_session_is_charted_against_the_lines_of_its_own_configuration(
    page: Page,
) -> None:
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    expect(page.locator("h1")).to_have_text(re.compile("main"))
    assert line_tokens(page, "flush") == 32_000 - 20_000 - 4_000
    assert line_tokens(page, "window") == 32_000
    assert page.locator('#differences tr[data-row="compactions"] td').first.inner_text() == "3"


def test_moving_the_floor_moves_the_line_and_changes_the_numbers(page: Page) -> None:
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    before_line, before_sent = line_height(page, "flush"), what_if(page, "tokens sent")
    assert (what_if(page, "compactions"), what_if(page, "memory flushes")) == ("3", "4")
    move(page, "compaction.reserveTokensFloor", 10_000)
    expect(page.locator('#differences tr[data-row="compactions"] td').nth(2)).to_have_text("1")
    assert line_tokens(page, "flush") == 32_000 - 10_000 - 4_000
    assert line_height(page, "flush") < before_line
    assert what_if(page, "memory flushes") == "0"
    assert what_if(page, "tokens sent") != before_sent
    assert page.locator('[name="compaction.reserveTokensFloor"]').input_value() == "10000"
    assert "compaction.reserveTokensFloor=10000" in page.url


def test_the_address_carries_the_policy_to_somebody_else(page: Page) -> None:
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    move(page, "compaction.reserveTokensFloor", 10_000)
    expect(page).to_have_url(re.compile("reserveTokensFloor=10000"))
    page.goto(page.url)
    assert what_if(page, "compactions") == "1"
    assert page.locator('[name="compaction.reserveTokensFloor"]').input_value() == "10000"


def test_a_late_answer_never_replaces_a_newer_one(page: Page) -> None:
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    held: list[object] = []

    def hold(route: object) -> None:
        if "Floor=11000" in route.request.url and not held:  # type: ignore[attr-defined]
            held.append(route)
        else:
            route.continue_()  # type: ignore[attr-defined]

    page.route("**/sessions/**", hold)
    move(page, "compaction.reserveTokensFloor", 11_000)
    page.wait_for_timeout(300)
    assert held
    move(page, "compaction.reserveTokensFloor", 12_000)
    expect(page.locator('.growth path[data-line="flush"]')).to_have_attribute(
        "data-tokens", str(32_000 - 12_000 - 4_000)
    )
    held[0].continue_()  # type: ignore[attr-defined]
    page.wait_for_timeout(300)
    assert line_tokens(page, "flush") == 32_000 - 12_000 - 4_000
    page.unroute_all()


def test_details_whose_move_was_overtaken_are_dropped(page: Page) -> None:
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    late: list[Route] = []

    def hold(route: Route) -> None:
        is_late = route.request.headers.get("hx-target") == "details" and not late
        late.append(route) if is_late else route.continue_()

    page.route("**/sessions/**", hold)
    move(page, "compaction.reserveTokensFloor", 11_000)
    expect(page).to_have_url(re.compile("Floor=11000"))
    page.wait_for_timeout(600)
    assert late
    # The older details arrive after the newer chart, and before the newer details are asked for.
    answer = late[0].fetch()
    move(page, "compaction.reserveTokensFloor", 12_000)
    expect(page).to_have_url(re.compile("Floor=12000"))
    late[0].fulfill(response=answer)
    expect(page.locator("#lines tr.flush")).to_contain_text(f"{32_000 - 12_000 - 4_000:,}")
    page.unroute_all()


def test_dragging_over_the_chart_zooms_and_keeps_the_policy(page: Page) -> None:
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    move(page, "compaction.reserveTokensFloor", 10_000)
    expect(page).to_have_url(re.compile("reserveTokensFloor=10000"))
    box = page.locator(".growth .canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60, steps=4)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"from=\d+&to=\d+"))
    assert "reserveTokensFloor=10000" in page.url
    page.locator("[data-whole]").click()
    expect(page).not_to_have_url(re.compile("from="))


def test_the_readout_names_the_call_and_its_tokens(page: Page) -> None:
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    box = page.locator(".growth .canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 50)
    expect(page.locator(".readout")).to_contain_text("call 44")
    expect(page.locator(".readout")).to_contain_text("billed total: 7,674")


def test_switching_the_mode_says_why_a_knob_has_no_effect(page: Page) -> None:
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    page.select_option('[name="compaction.mode"]', "safeguard")
    expect(page.locator('[name="compaction.reserveTokens"]')).to_be_disabled()
    expect(page.locator("#note-reserve_tokens")).to_contain_text("16,384")
    expect(page.locator("#lines tr.inner_threshold")).to_contain_text("safeguard mode")


def test_a_marker_leads_to_its_event(page: Page) -> None:
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    mark = page.locator(".growth a.mark").last  # no other mark lies over it
    target = mark.get_attribute("href")
    mark.click()
    assert page.url.endswith(target or "?")
    expect(page.locator(f"{target}")).to_be_visible()


def test_without_scripts_the_page_says_everything_and_the_form_works(
    page: Page, context: object
) -> None:
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    address = page.url
    plain = page.context.browser.new_context(  # type: ignore[union-attr]
        java_script_enabled=False, storage_state=page.context.storage_state()
    )
    try:
        silent = plain.new_page()
        silent.goto(address)
        rows = silent.locator("#differences tr[data-row]").evaluate_all(
            "rows => rows.map((row) => row.dataset.row)"
        )
        assert rows[:6] == [
            "flushes before compaction", "memory flushes", "compactions", "turns blocked",
            "tokens sent", "tokens re-sent",
        ]  # fmt: skip
        # Whether what is lost has been counted by now is up to the page with scripts.
        expect(silent.locator("#differences")).to_contain_text("anchors lost")
        silent.fill('[name="compaction.reserveTokensFloor"]', "10000")
        silent.click("noscript button")
        assert (
            silent.locator('#differences tr[data-row="compactions"] td').nth(2).inner_text() == "1"
        )
    finally:
        plain.close()


def test_on_a_phone_the_chart_stays_in_view_while_a_knob_moves(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    upload(page, "*.jsonl", "openclaw.json", "sessions.json")
    page.locator("label.handle").click()
    knob = page.locator('[name="compaction.reserveTokensFloor"]')
    knob.scroll_into_view_if_needed()
    move(page, "compaction.reserveTokensFloor", 10_000)
    expect(page.locator('.growth path[data-line="flush"]')).to_have_attribute(
        "data-tokens", "18000"
    )
    chart, sheet = (
        page.locator(".growth .canvas").bounding_box(),
        page.locator(".tune").bounding_box(),
    )
    assert chart and sheet
    assert chart["y"] >= 0 and chart["y"] + chart["height"] <= sheet["y"] + 1
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390, "the page is wider than the phone"
