"""While somebody imports, cycles are looked for rarely; afterwards as before."""

from __future__ import annotations

import gc

import pytest

from sessions_app.collector import RARELY, rarely_collected


def test_the_last_of_those_who_ask_sets_it_back() -> None:
    before = gc.get_threshold()
    with rarely_collected():
        assert gc.get_threshold() == RARELY
        with rarely_collected():
            pass
        assert gc.get_threshold() == RARELY
    assert gc.get_threshold() == before


def test_a_failure_sets_it_back() -> None:
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="broken"), rarely_collected():
        raise ValueError("broken")
    assert gc.get_threshold() == before
