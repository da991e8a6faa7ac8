"""Which identifiers a text holds, of which kind, and where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.retention.anchors import IDENTIFIERS
from compaction_app.engine.retention.identifiers import identifiers
from compaction_app.engine.retention.keys import key_of_identifier


def found(text: str) -> list[tuple[str, str]]:
    return [(kind, text[start:end]) for start, end, kind in identifiers(text)]


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("see /srv/app/main.py, please", "path", "/srv/app/main.py"),
        ("见C:\\work\\notes.txt。", "path", "C:\\work\\notes.txt"),
        ("in src/app/models (all)", "path", "src/app/models"),
        ("the `settings.local.yaml`", "path", "settings.local.yaml"),
        (
            "id 123E4567-e89b-12d3-a456-426614174000.",
            "uuid",
            "123E4567-e89b-12d3-a456-426614174000",
        ),
        ("commit 9fceb02 broke it", "hash", "9fceb02"),
        ("(https://example.org/wiki/A_(b))", "url", "https://example.org/wiki/A_(b)"),
        ("监控在https://example.org/a，请看", "url", "https://example.org/a"),
        ("on db.example.com:5432:", "host_port", "db.example.com:5432"),
        ("主机：10.0.0.7:80。", "host_port", "10.0.0.7:80"),
        ("needs v2.3 at least", "version", "v2.3"),
        ("with Python 3.11 only", "version", "3.11"),
        ("was 2.4.1-rc.2 before", "version", "2.4.1-rc.2"),
        ("closes OPS-441", "ticket", "OPS-441"),
        ("工单＃９０２１已关闭", "ticket", "＃９０２１"),
        ("within 250 ms or", "quantity", "250 ms"),
        ("共１２０毫秒", "quantity", "１２０毫秒"),
        ("costs $1,200.50 now", "quantity", "$1,200.50"),
    ],
)
def test_an_identifier_is_found_as_it_stands(text: str, kind: str, name: str) -> None:
    assert found(text) == [(kind, name)]


@pytest.mark.parametrize(
    "text",
    [
        "read and/or write, 24/7, he/she, TCP/IP, n/a",
        "at 10:30, ratio 16:9, on 12.03.2026",
        "UTF-8 and SHA-256, step 3, 3.14, section 3.2.1",
        "Node.js and Vue.js are fine; application/json too",
        "The quick brown fox jumps over the lazy dog.",
        "敏捷的棕色狐狸跳过了懒狗，一切正常。",
        "defaced facade 20261201",
        "",
    ],
)
def test_healthy_text_has_none(text: str) -> None:
    assert found(text) == []


def test_what_stands_inside_a_longer_name_does_not_count_again() -> None:
    text = "https://ci.example.com:8443/builds/9fceb02a/log.txt"
    assert found(text) == [("url", text)]


def test_several_lines_keep_their_places() -> None:
    text = "no digits here\n  port db.example.com:5432\n\nnothing\nv1.2.3 at 30 s"
    assert [name for _, name in found(text)] == ["db.example.com:5432", "v1.2.3", "30 s"]


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("path", "./src/App.py", "src/app.py"),
        ("path", "C:\\src\\app.py", "/src/app.py"),
        ("url", "https://Example.org/a/", "http://example.org/a"),
        ("version", "v1.2.3", "1.2.3"),
        ("ticket", "issue #0012", "#12"),
        ("ticket", "ＯＰＳ－４", "ops-4"),
        ("quantity", "1,500 ms", "1500毫秒"),
        ("quantity", "2.50 seconds", "2.5s"),
        ("quantity", "$40", "40 USD"),
        ("hash", "sha256:ABCDEF12", "abcdef12"),
    ],
)
def test_two_forms_of_one_identifier_have_one_key(kind: str, one: str, other: str) -> None:
    assert key_of_identifier(kind, one) == key_of_identifier(kind, other)  # type: ignore[arg-type]


@given(st.text(alphabet="ab1./:-#$ \n\\@vＡ１：路径％", max_size=80))
def test_spans_are_in_order_and_inside_the_text(text: str) -> None:
    end = 0
    for start, stop, kind in identifiers(text):
        assert end <= start < stop <= len(text)
        assert kind in IDENTIFIERS
        end = stop


@given(st.sampled_from("/.:-#1a\\~v$"), st.sampled_from(["", "x", "1", "a.b"]))
def test_a_hostile_text_takes_no_more_than_linear_time(character: str, unit: str) -> None:
    """Twice the text is far from four times the work; a quadratic pattern would not end here."""
    list(identifiers((character + unit) * 30_000))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[30/Nov/2026:12:00:01 +0000] GET /static/site.css", ["/static/site.css"]),
        ("见 src/缓存/redis.py。", ["src/缓存/redis.py"]),
        ("写到 /var/log/应用/错误.log。", ["/var/log/应用/错误.log"]),
        ("看 /etc/nginx/nginx.conf里的配置", ["/etc/nginx/nginx.conf"]),
        ("看 https://example.com/a（见下）", ["https://example.com/a"]),
        ("最多 500 个请求", ["500 个请求"]),
        ("C:\\Users\\bob\\a.txt", ["C:\\Users\\bob\\a.txt"]),
        ("foo://http://x.example/a", ["http://x.example/a"]),
        ("python3.11 and version v2.0", ["3.11", "v2.0"]),
    ],
)
def test_names_in_logs_and_mixed_texts(text: str, names: list[str]) -> None:
    assert [text[start:end] for start, end, _ in identifiers(text)] == names
