"""Writing a large file without holding up who waits for the same disk."""

from __future__ import annotations

import os
from typing import Final, TextIO

SYNC_BYTES: Final = 4_000_000


class SyncedWriter:
    """Writes to ``file`` and has what is there put on the disk every `SYNC_BYTES`.

    What is written at the end in one piece would hold up every decision that is put on the same disk then.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._since = 0

    def write(self, text: str) -> None:
        """Write ``text``."""
        self._file.write(text)
        self._since += len(text)
        if self._since >= SYNC_BYTES:
            self._since = 0
            self._file.flush()
            os.fsync(self._file.fileno())
