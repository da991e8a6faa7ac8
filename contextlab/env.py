"""Settings from the environment: typed, loud about bad values, ``NAME_FILE`` accepted."""

from __future__ import annotations

import os
from pathlib import Path


class BadSetting(ValueError):
    """An environment variable holds something it must not."""


def env_str(name: str, default: str = "") -> str:
    """``NAME``, else the content of the file named by ``NAME_FILE``, else ``default``."""
    if (path := os.environ.get(f"{name}_FILE")) and name not in os.environ:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise BadSetting(f"{name}_FILE: cannot read {path}: {error.strerror}") from error
    return os.environ.get(name, default)
