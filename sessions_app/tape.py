"""Reading a file and knowing the digest of what has been settled of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import BinaryIO

CHUNK_BYTES = 1 << 20


class Tape:
    """The chunks of a file, and the digest of any prefix that the reader has come to."""

    def __init__(self, file: BinaryIO, hasher: hashlib._Hash, offset: int) -> None:
        self._file, self._hasher, self._hashed = file, hasher, offset
        self._held: list[bytes] = []

    def chunks(self) -> Iterator[bytes]:
        while chunk := self._file.read(CHUNK_BYTES):
            self._held.append(chunk)
            yield chunk

    def digest_at(self, offset: int) -> str:
        """The digest of the file up to ``offset``, which never moves back."""
        while self._hashed < offset:
            chunk = self._held[0]
            wanted = offset - self._hashed
            self._hasher.update(chunk[:wanted])
            self._hashed += min(wanted, len(chunk))
            if wanted < len(chunk):
                self._held[0] = chunk[wanted:]
            else:
                self._held.pop(0)
        return self._hasher.copy().hexdigest()
