"""Reading a file and knowing the digest of what has been settled of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import BinaryIO

CHUNK_BYTES = 96 << 10
"""Below the size from which an allocator maps fresh pages for each chunk, which takes longer than to read them."""

LAST_BYTES = 64


class Tape:
    """The chunks of a file, and the digest of any prefix that the reader has come to."""

    def __init__(self, file: BinaryIO, hasher: hashlib._Hash, offset: int) -> None:
        self._file, self._hasher, self._hashed = file, hasher, offset
        self._held: list[bytes] = []
        self._last = b""

    @property
    def read_to(self) -> int:
        """Up to where the file has been read."""
        return self._hashed + sum(map(len, self._held))

    def resume(self, file: BinaryIO) -> None:
        """Go on with the file as it is now: what was read but not settled comes once more, from memory."""
        file.seek(self.read_to)
        self._file = file

    def chunks(self) -> Iterator[bytes]:
        yield from tuple(self._held)
        while chunk := self._file.read(CHUNK_BYTES):
            self._held.append(chunk)
            self._last = (self._last + chunk[-LAST_BYTES:])[-LAST_BYTES:]
            yield chunk

    def last(self, count: int) -> bytes:
        """The last bytes that were read, as far as they were read here; ``LAST_BYTES`` at most."""
        return self._last[-count:]

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
