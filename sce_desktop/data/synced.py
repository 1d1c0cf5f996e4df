"""Writing a large file without holding up who waits for the same disk."""

from __future__ import annotations

import os
from types import TracebackType
from typing import BinaryIO, Final, Self

from sce_desktop.core.background_writer import BackgroundWriter

SYNC_BYTES: Final = 4_000_000


class SyncedFile:
    """A context manager that has what is in ``file`` put on the disk every `SYNC_BYTES`.

    What is written at the end in one piece would hold up every decision that is put on the same disk then.
    While one piece goes there the next is written, and no more than that.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._since = 0
        self._syncing = BackgroundWriter("sync")

    def __enter__(self) -> Self:
        self._syncing.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._syncing.__exit__(kind, error, trace)

    def write(self, data: bytes | memoryview) -> None:
        """Write ``data``."""
        self._file.write(data)
        self.wrote(len(data))

    def wrote(self, count: int) -> None:
        """Note that ``count`` bytes more were written to the file, by whomever."""
        self._since += count
        if self._since >= SYNC_BYTES:
            self._since = 0
            self._file.flush()
            self._syncing.write(os.fsync, self._file.fileno())
