"""The entries of a session: a table in pages, one entry in full, and its bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from sessions_app import entries, masking
from sessions_app.models import Session
from sessions_app.secret_search import search_all
from tests.builders import Chain, header, jsonl, short_session
from tests.conftest import Person
from tests.texts_loaded import loads_texts

pytestmark = pytest.mark.django_db

HOSTILE = '</pre><script>alert(1)</script>"><img src=x onerror=alert(2)>'


def page(person: Person, session: Session, **query: object) -> str:
    answer = person.client.get(reverse("entries", args=[session.uuid]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def numbers(html: str) -> list[int]:
    return [int(number) for number in re.findall(r'<tr id="entry-(\d+)"', html)]


def shown(person: Person, session: Session, seq: int) -> str:
    answer = person.client.get(reverse("entry", args=[session.uuid, seq]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_table_shows_what_each_entry_says_and_costs(alice: Person) -> None:
    html = page(alice, alice.imports(short_session().data()))
    assert numbers(html) == list(range(8))
    assert "Question 0" in html
    assert "toolResult" in html
    assert "1,050" in html


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ("all", [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("user", [0, 4]),
        ("assistant", [1, 3, 5, 7]),
        ("results", [2, 6]),
        ("compactions", [8]),
        ("nonsense", [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ],
)
def test_it_can_be_narrowed(alice: Person, only: str, expected: list[int]) -> None:
    chain = short_session()
    chain.compaction("e5")
    assert numbers(page(alice, alice.imports(chain.data()), only=only)) == expected


def test_it_comes_in_pages(alice: Person) -> None:
    session = alice.imports(short_session(turns=20).data())
    assert numbers(page(alice, session)) == list(range(50))
    second = page(alice, session, page=2)
    assert numbers(second) == list(range(50, 80))
    assert "51 to 80 of 80" in second
    assert numbers(page(alice, session, at=77)) == list(range(50, 80))
    assert numbers(page(alice, session, at=49)) == list(range(50))
    assert 70 in numbers(page(alice, session, at=70, only="results"))


@pytest.mark.parametrize(
    "query",
    [{"page": p} for p in ("0", "-3", "99", "x", "1e9", "9" * 50, "²")]
    + [{"at": a} for a in ("x", "-1", "9" * 50, "²", "999999999")],
)
def test_a_place_that_is_not_there_is_the_nearest_one(alice: Person, query: dict[str, str]) -> None:
    assert numbers(page(alice, alice.imports(short_session().data()), **query)) == list(range(8))


def test_entries_of_other_branches_and_outside_the_conversation_say_so(alice: Person) -> None:
    chain = short_session()
    chain.user("Continue the OpenClaw runtime event.", below="e4")
    chain.add("telemetry")
    html = page(alice, alice.imports(chain.data()))
    assert html.count("other branch") == 4
    assert "memory flush turn" in html
    assert "entry type no version knows" in html


def test_problems_of_the_file_are_listed(alice: Person) -> None:
    html = page(alice, alice.imports(short_session().data() + b"garbage\n"))
    assert "1 problem found" in html
    assert "FILE_BAD_LINE" in html


def test_a_session_without_entries_says_so(alice: Person) -> None:
    assert "No such entries" in page(alice, alice.imports(jsonl(header())))


def test_a_fragment_is_only_the_table(alice: Person) -> None:
    session = alice.imports(short_session().data())
    answer = alice.client.get(
        reverse("entries", args=[session.uuid]), headers={"HX-Target": "entries"}
    )
    assert b"<html" not in answer.content
    assert b"<table" in answer.content


def test_no_page_loads_more_when_the_session_is_longer(alice: Person) -> None:
    def queries(session: Session) -> int:
        with CaptureQueriesContext(connection) as captured:
            page(alice, session)
        assert not any(loads_texts(query["sql"]) for query in captured)
        return len(captured)

    short = alice.imports(short_session("short").data())
    long = alice.imports(short_session("long", turns=40).data())
    search_all()  # whoever looks first does it else
    assert queries(long) == queries(short)


def test_a_giant_line_is_no_part_of_the_page(alice: Person) -> None:
    chain = short_session()
    chain.user("x" * 900_000)
    session = alice.imports(chain.data())
    assert len(page(alice, session)) < 50_000
    html = shown(alice, session, 8)
    assert len(html) < 50_000
    assert "880,000 more characters are not shown" in html


# One entry


def test_an_entry_shows_its_texts_numbers_and_place(alice: Person) -> None:
    session = alice.imports(short_session().data())
    html = shown(alice, session, 1)
    assert "Looking" in html
    assert "Tool call read" in html
    assert "<b>1,000</b> input" in html
    assert "2026-01-01 00:00:02 UTC" in html
    assert "line <b>3</b>" in html


@pytest.mark.parametrize("seq", [8, 999, 2**31, 2**63, 10**30])
def test_an_entry_that_is_not_there_is_404(alice: Person, seq: int) -> None:
    session = alice.imports(short_session().data())
    for name in ("entry", "entry-raw"):
        assert alice.client.get(reverse(name, args=[session.uuid, seq])).status_code == 404


def test_entries_of_other_teams_are_404(alice: Person, bob: Person) -> None:
    session = alice.imports(short_session().data())
    for address in (
        reverse("entries", args=[session.uuid]),
        reverse("entry", args=[session.uuid, 0]),
        reverse("entry-raw", args=[session.uuid, 0]),
        reverse("session", args=[session.uuid]),
    ):
        assert alice.client.get(address).status_code == 200
        assert bob.client.get(address).status_code == 404
        assert bob.client.post(address).status_code in (404, 405)


@pytest.mark.parametrize(
    "content",
    [
        HOSTILE,
        [{"type": "text", "text": HOSTILE}],
        [{"type": "thinking", "thinking": HOSTILE}],
        [{"type": "toolCall", "id": "c", "name": HOSTILE, "arguments": {HOSTILE: HOSTILE}}],
        [{"type": HOSTILE, "text": 5}],
        [{"type": "image", "mimeType": HOSTILE, "data": "x"}],
        [HOSTILE, 5, None],
    ],
)
def test_hostile_texts_are_text(alice: Person, content: object) -> None:
    chain = Chain()
    chain.message("assistant", content=content, provider=HOSTILE, model=HOSTILE, stopReason=HOSTILE)
    chain.message("toolResult", content=content, toolName=HOSTILE, toolCallId=HOSTILE)
    chain.add(HOSTILE, data=HOSTILE)
    chain.records[3]["id"] = HOSTILE
    session = alice.imports(chain.data(), f"{HOSTILE}.jsonl")
    pages = [page(alice, session), *(shown(alice, session, seq) for seq in range(3))]
    pages.append(alice.client.get("/").content.decode())
    for html in pages:
        assert "<script>alert" not in html
        assert "<img src=x" not in html


def test_the_bytes_of_an_entry_are_a_download_that_no_browser_renders(alice: Person) -> None:
    chain = Chain()
    chain.user(HOSTILE + " 漢字 🎈")
    session = alice.imports(chain.data())
    answer = alice.client.get(reverse("entry-raw", args=[session.uuid, 0]))
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="entry-0.json"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer.content == chain.data().splitlines()[1]


@pytest.mark.parametrize("depth", [100, 990])
def test_a_deeply_nested_entry_can_be_looked_at(alice: Person, depth: int) -> None:
    chain = Chain()
    chain.assistant(calls=("c",))
    data = chain.data().replace(b'"arguments":{}', b'"arguments":' + b"[" * depth + b"]" * depth)
    assert "Tool call" in shown(alice, alice.imports(data), 0)


# Masking


@pytest.fixture
def _secrets_are_hidden() -> Iterator[None]:
    rule = masking.register(lambda text: text.replace("sk-12345", "[hidden]"))
    yield
    masking.unregister(rule)


@pytest.mark.usefixtures("_secrets_are_hidden")
def test_whatever_shows_a_text_shows_it_masked(alice: Person) -> None:
    chain = Chain()
    chain.user("the key is sk-12345")
    chain.assistant("it is sk-12345", calls=("c",))
    chain.records[2]["message"]["content"][1] |= {
        "name": "read sk-12345",
        "arguments": {"key": "sk-12345"},
    }
    chain.result("c", "sk-12345")
    chain.compaction("e1", "keep sk-12345")
    chain.add("custom", data={"key": "sk-12345"})
    chain.add("label", below="sk-12345")
    session = alice.imports(chain.data() + b"sk-12345\n", "sk-12345.jsonl")
    addresses = [
        "/",
        reverse("session", args=[session.uuid]),
        reverse("entries", args=[session.uuid]),
    ]
    for seq in range(6):
        addresses += [reverse(name, args=[session.uuid, seq]) for name in ("entry", "entry-raw")]
    for address in addresses:
        html = alice.client.get(address).content.decode()
        assert "sk-12345" not in html, address
        assert "[hidden]" in html or address.endswith("/5/"), address


@pytest.mark.usefixtures("_secrets_are_hidden")
def test_a_secret_is_hidden_also_where_a_text_is_cut(alice: Person) -> None:
    chain = Chain()
    chain.user("xxxx sk-12345")
    session = alice.imports(chain.data())
    with patch.object(entries, "SHOWN_CHARS", 9):
        html = shown(alice, session, 0)
    assert "<pre>xxxx [hid</pre>" in html
