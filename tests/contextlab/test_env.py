"""Settings from the environment are typed, and loud when they are wrong."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from contextlab import env
from contextlab.env import BadSetting, env_bool, env_int, env_list, env_secret, env_str


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "VARIABLES", {})


def test_an_absent_variable_gives_the_default() -> None:
    assert env_str("X_NAME", "fallback", help="") == "fallback"
    assert env_int("X_NAME", 7, minimum=1, maximum=9, help="") == 7
    assert env_bool("X_NAME", True, help="") is True


def test_an_empty_variable_counts_as_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_NAME", "")
    assert env_str("X_NAME", "fallback", help="") == "fallback"


@pytest.mark.parametrize("text", ["1", "true", "YES", "On"])
def test_switches_are_on(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("X_NAME", text)
    assert env_bool("X_NAME", False, help="") is True


@pytest.mark.parametrize("text", ["maybe", "2", "ja"])
def test_other_words_for_a_switch_are_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("X_NAME", text)
    with pytest.raises(BadSetting, match=f"X_NAME='{text}': must be one of 1, true"):
        env_bool("X_NAME", False, help="")


@pytest.mark.parametrize("text", ["0", "10", "-1", "1.5", "١", "five"])
def test_numbers_outside_their_bounds_are_refused(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("X_NAME", text)
    with pytest.raises(BadSetting, match=r"X_NAME=.*must be a whole number from 1 to 9"):
        env_int("X_NAME", 7, minimum=1, maximum=9, help="")


def test_a_word_that_is_no_choice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_NAME", "xml")
    with pytest.raises(BadSetting, match="must be one of text, json"):
        env_str("X_NAME", "text", choices=("text", "json"), help="")


def test_lists_are_split_at_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_NAME", " a.example , b.example,")
    assert env_list("X_NAME", [], help="") == ["a.example", "b.example"]


def test_a_value_can_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "value").write_text("from the file\n")
    monkeypatch.setenv("X_NAME_FILE", str(tmp_path / "value"))
    assert env_str("X_NAME", help="") == "from the file"


def test_a_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_NAME_FILE", "/nowhere/value")
    with pytest.raises(BadSetting, match="X_NAME_FILE='/nowhere/value': cannot be read"):
        env_str("X_NAME", help="")


def test_a_value_and_a_file_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("X_NAME", "one")
    monkeypatch.setenv("X_NAME_FILE", str(tmp_path / "other"))
    with pytest.raises(BadSetting, match="both set"):
        env_str("X_NAME", help="")


def test_a_secret_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    kept = tmp_path / "data" / "secret"
    first = env_secret("X_NAME", kept, help="", shown="")
    assert len(first) > 50
    assert env_secret("X_NAME", kept, help="", shown="") == first
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert [p.name for p in kept.parent.iterdir()] == ["secret"]


def test_whoever_writes_a_secret_first_wins(tmp_path: Path) -> None:
    kept = tmp_path / "secret"
    env._write_once(kept, "first")
    env._write_once(kept, "second")
    assert kept.read_text() == "first"


def test_a_secret_that_cannot_be_kept_is_loud(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadSetting, match="X_NAME is not set and cannot be kept"):
        env_secret("X_NAME", tmp_path / "file" / "secret", help="", shown="")


def test_an_empty_kept_secret_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("X_SECRET", raising=False)
    (tmp_path / "key").write_text("")
    made = env_secret("X_SECRET", tmp_path / "key", help="", shown="")
    assert len(made) > 40
    assert (tmp_path / "key").read_text() == made
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_an_address_of_another_kind_is_refused_without_repeating_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("X_URL", "amqp://me:secret@host")
    with pytest.raises(BadSetting, match="X_URL: must begin with redis:// or rediss://") as raised:
        env_str("X_URL", schemes=("redis", "rediss"), help="")
    assert "secret" not in str(raised.value)
