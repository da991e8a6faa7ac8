"""The page of a call's context: every part with its size, what rules cut, what is new."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.test import Client

from compaction_app.cleared import cleared_at, cleared_json
from compaction_app.context_at_call import told_context
from compaction_app.runs import situation_of
from sessions_app import masking
from sessions_app.entries import window_of
from sessions_app.models import Entry, Session, Team
from sessions_app.payload import pack, record_of
from tests.compaction_app.audited import audited
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import HOSTILE
from tests.conftest import Person
from tests.engine.builders import chat


@pytest.fixture
def pruned(team: Team) -> Session:
    return audited(team, "prune-cache-ttl")


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def address(session: Session, call: int) -> str:
    return f"/sessions/{session.uuid}/context/{call}/"


def cut_call(session: Session) -> int:
    situation = situation_of(session)
    return next(n for n in range(1, 24) if any(r.part.changes for r in told_context(situation, n).rows))  # fmt: skip


def test_the_parts_stand_with_their_sizes(viewer: Client, pruned: Session) -> None:
    page = viewer.get(address(pruned, 14))
    told = told_context(situation_of(pruned), 14)
    text = plain(page.text)

    assert "Context at call 14 audit replayed" in text
    assert f"{told.tokens:,} tokens estimated" in text
    assert f"{told.bill.prompt:,} billed prompt" in text
    assert f"{told.message_exact:,} by {pruned.encoding}" in text
    assert page.text.count('<tr id="part-') == len(told.rows)
    assert page.text.count('class="tile ') == len(told.rows) + sum(
        bool(part.tokens) for part in told.system.parts
    )
    assert "by the runtime’s report of its last run" in text and "AGENTS.md" in text


def test_a_cut_result_names_its_rule_its_sizes_and_its_original(
    viewer: Client, pruned: Session
) -> None:
    number = cut_call(pruned)
    row = next(r for r in told_context(situation_of(pruned), number).rows if r.part.changes)
    change = row.part.changes[0]
    html = viewer.get(address(pruned, number)).text

    assert f"<code>{change.rule}</code>" in html
    assert f'<td class="n">{change.before_chars:,}</td><td class="n">{change.after_chars:,}</td>' in html  # fmt: skip
    assert f'href="/sessions/{pruned.uuid}/entries/{row.part.sources[0]}/"' in html
    assert f"cache broken The first {row.part.position} " in plain(html)


def test_a_prompt_that_loses_what_its_channel_put_in_front_breaks_the_cache(
    viewer: Client, team: Team
) -> None:
    text = plain(viewer.get(address(audited(team), 36)).text)
    assert "cache broken The first 31 messages" in text
    assert "it was the prompt, with what its channel puts in front" in text


def test_pages_lead_from_call_to_call(viewer: Client, pruned: Session) -> None:
    first, last = viewer.get(address(pruned, 1)).text, viewer.get(address(pruned, 23)).text
    assert 'rel="prev"' not in first and address(pruned, 2) in first
    assert "This is the first call." in first
    assert 'rel="next"' not in last and address(pruned, 22) in last


def test_an_answer_leads_to_the_call_that_it_answers(viewer: Client, pruned: Session) -> None:
    seq = told_context(situation_of(pruned), 3).call.answer
    found = viewer.get(f"/sessions/{pruned.uuid}/entries/{seq}/context/")
    assert found.status_code == 302 and found.headers["Location"] == address(pruned, 3)


def test_tables_of_answers_and_calls_lead_here(viewer: Client, pruned: Session) -> None:
    last = told_context(situation_of(pruned), 23).call.answer
    home = f"/sessions/{pruned.uuid}/"
    link = f"{home}entries/{last}/context/"
    assert link in viewer.get(f"{home}entries/?at={last}").text
    assert link in viewer.get(f"{home}entries/{last}/").text
    assert viewer.get(link).headers["Location"] == address(pruned, 23)
    assert address(pruned, 23) in viewer.get(home).text
    assert "/context/" in viewer.get(f"{home}turns/7/").text


def test_a_prompt_that_nobody_billed_says_what_is_unknown(viewer: Client, bring: Bring) -> None:
    session = bring(chat(3))
    text = plain(viewer.get(address(session, 1)).text)
    assert "System prompt and tools" in text and "unknown" in text
    assert "No audit is kept of this turn" in text or "Turn 1" in text


def test_texts_are_escaped_and_masked(viewer: Client, bring: Bring) -> None:
    script = chat(2)
    for entry in script.entries:
        for block in entry.get("message", {}).get("content", ()):
            if isinstance(block, dict) and block.get("type") == "text":
                block["text"] = f"{HOSTILE} secret-word"
    session = bring(script)
    rule = masking.register(lambda shown: shown.replace("secret-word", "•••"))
    try:
        html = viewer.get(address(session, 2)).text
    finally:
        masking.unregister(rule)
    assert HOSTILE not in html and "secret-word" not in html and "•••" in html
    assert "style=" not in html and not re.search(r"<[^>]*\son\w+=", html)


@pytest.mark.parametrize("call", [0, 24, 99_999_999_999])
def test_a_call_that_is_not_there_is_not_found(viewer: Client, pruned: Session, call: int) -> None:
    assert viewer.get(address(pruned, call)).status_code == 404


def test_the_page_is_only_read(viewer: Client, pruned: Session) -> None:
    assert viewer.post(address(pruned, 1)).status_code == 405
    assert viewer.get(f"/sessions/{pruned.uuid}/context/one/").status_code == 404


def test_another_team_sees_nothing(bob: Person, pruned: Session) -> None:
    assert bob.client.get(address(pruned, 1)).status_code == 404
    assert bob.client.get(f"/sessions/{pruned.uuid}/entries/4/context/").status_code == 404


NAMES = " ticket OPS-4411 in /srv/billing/export.py "


def named_in_the_middle(session: Session, seq: int) -> None:
    """Put names in the middle of a stored tool result, where a trim takes out what stands there."""
    row = Entry.objects.get(window=window_of(session), seq=seq)
    record = record_of(row.payload)
    (block,) = (b for b in record["message"]["content"] if b["type"] == "text")
    half = len(block["text"]) // 2
    block["text"] = block["text"][:half] + NAMES + block["text"][half + len(NAMES) :]
    Entry.objects.filter(pk=row.pk).update(payload=pack(json.dumps(record).encode()))


def test_what_pruning_cleared_is_told_by_name(viewer: Client, pruned: Session) -> None:
    number = cut_call(pruned)
    row = next(r for r in told_context(situation_of(pruned), number).rows if r.part.changes)
    (seq,) = row.part.sources
    named_in_the_middle(pruned, seq)
    situation = situation_of(pruned)
    html = viewer.get(address(pruned, number)).text
    told, _, _ = html.partition("Messages in order")
    assert "What this call no longer saw of them" in told and "upper bound" in told
    assert "OPS-4411" in told and f"/sessions/{pruned.uuid}/entries/{seq}/#block-0" in told
    found = cleared_at(situation.window, told_context(situation, number))
    assert found is not None
    assert {"OPS-4411", "/srv/billing/export.py"} <= {fate.anchor.text for fate in found.lost}
    assert cleared_json(found)["items"][0]["entry"] == seq  # type: ignore[index]


def test_what_another_message_says_too_is_still_seen(viewer: Client, pruned: Session) -> None:
    number = cut_call(pruned)
    rows = told_context(situation_of(pruned), number).rows
    cut = next(r for r in rows if r.part.changes)
    whole = next(
        r for r in rows if r.part.kind == "tool result" and not r.part.changes and r.part.sources
    )
    for row in (cut, whole):
        named_in_the_middle(pruned, row.part.sources[0])
    situation = situation_of(pruned)
    found = cleared_at(situation.window, told_context(situation, number))
    assert found is not None
    assert "OPS-4411" not in [fate.anchor.text for fate in found.lost]


def test_a_call_that_nothing_was_cut_for_tells_of_no_loss(viewer: Client, pruned: Session) -> None:
    assert "no longer saw" not in viewer.get(address(pruned, 1)).text
    told = told_context(situation_of(pruned), 1)
    assert cleared_at(window_of(pruned), told) is None
