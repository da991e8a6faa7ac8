"""The system's Chromium, kept quiet: no first-run pages, no calls to its maker."""

from __future__ import annotations

import shutil

QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def chromium() -> str:
    """Where it is, "" when it is not installed."""
    return next((p for name in ("chromium", "google-chrome") if (p := shutil.which(name))), "")
