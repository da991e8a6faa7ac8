"""Static files have hashed names, are compressed, and are collected only when they changed."""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpResponseBase
from django.test import AsyncClient, Client
from pytest_django.fixtures import Settings

from contextlab.static_files import HashedFiles, collect_if_changed

STYLE = "body { color: black }\n" * 50


@pytest.fixture
def source(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    """A folder of one style sheet, and an empty folder to collect into."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "site.css").write_text(STYLE)
    settings.STATICFILES_DIRS = [folder]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = str(tmp_path / "collected")
    yield folder


def hashed_address() -> str:
    return HashedFiles().url("site.css")


def test_names_are_plain_as_long_as_nothing_was_collected() -> None:
    assert staticfiles_storage.url("css/site.css") == "/static/css/site.css"


def test_files_are_collected_once(source: Path) -> None:
    assert [collect_if_changed(), collect_if_changed()] == [True, False]


def test_a_changed_file_is_collected_again(source: Path) -> None:
    collect_if_changed()
    before = hashed_address()
    (source / "site.css").write_text(STYLE + "p { margin: 0 }")
    assert collect_if_changed()
    assert hashed_address() != before


def test_a_file_is_served_compressed_and_for_ever(source: Path) -> None:
    collect_if_changed()
    answer = Client().get(hashed_address(), headers={"accept-encoding": "gzip"})
    assert answer.status_code == 200
    assert gzip.decompress(answer.content).decode() == STYLE
    assert "immutable" in answer["Cache-Control"]
    assert answer["Content-Type"].startswith("text/css")
    assert "Access-Control-Allow-Origin" not in answer


def test_an_asynchronous_server_gets_no_stream_to_read_in_a_thread(source: Path) -> None:
    collect_if_changed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer: HttpResponseBase = async_to_sync(AsyncClient().get)(hashed_address())
    assert not answer.streaming
    assert answer.status_code == 200


def test_a_page_may_refer_to_a_file_that_was_not_collected(source: Path) -> None:
    collect_if_changed()
    assert HashedFiles().url("not/there.css") == "/static/not/there.css"


def test_a_missing_file_is_not_found(client: Client) -> None:
    assert client.get("/static/css/nothing.css").status_code == 404


def test_every_file_that_a_template_names_is_there() -> None:
    templates = Path(__file__).resolve().parents[2] / "templates"
    named = {
        name
        for template in templates.rglob("*.html")
        for name in re.findall(r"""{% static ['"]([^'"]+)['"]""", template.read_text())
    }
    assert {name for name in named if finders.find(name) is None} == set()
