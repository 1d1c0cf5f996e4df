"""Workbooks whose last step can be stopped: xlsxwriter copies and compresses all rows when it closes one."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from xlsxwriter.worksheet import Worksheet

Check = Callable[[], None]


class _Rows:
    """The temporary file of a sheet's rows; ``check`` is called before a piece of it is copied."""

    def __init__(self, file: IO[str], check: Check) -> None:
        self.write, self.seek, self.close = file.write, file.seek, file.close
        self._read, self._check = file.read, check

    def read(self, size: int) -> str:
        """Return the next piece."""
        self._check()
        return self._read(size)


def sheet_class(check: Check) -> type[Worksheet]:
    """Return the class of sheets whose rows are copied only as long as ``check`` does not raise."""

    class Sheet(Worksheet):
        _rows: _Rows | None = None

        @property
        def row_data_fh(self) -> _Rows | None:
            return self._rows

        @row_data_fh.setter
        def row_data_fh(self, file: IO[str] | None) -> None:
            self._rows = None if file is None else _Rows(file, check)

    return Sheet


class StoppableFile(io.BufferedWriter):
    """A new file whose ``write`` raises what ``check`` raises, once: what is written afterwards is dropped.

    The zip file that writes to it is closed whenever its object goes, and would write its end then. It counts
    with the places that it is told, so they go on as if everything were written.
    """

    def __init__(self, path: Path, check: Check) -> None:
        super().__init__(io.FileIO(path, "w"), 1 << 16)
        self._check = check
        self._dropped: int | None = None  # where the next piece would be, once pieces are dropped

    def stop(self) -> None:
        """Drop what is written from here on."""
        if self._dropped is None:
            self._dropped = super().tell()

    def write(self, data: Any) -> int:
        """Write ``data``."""
        if self._dropped is None:
            try:
                self._check()
            except BaseException:
                self.stop()
                raise
            return super().write(data)
        self._dropped += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place; once pieces are dropped, from the beginning alone."""
        if self._dropped is None:
            return super().seek(offset, whence)
        self._dropped = offset
        return offset

    def tell(self) -> int:
        """Return the place."""
        return super().tell() if self._dropped is None else self._dropped

    def flush(self) -> None:
        """Hand over what is held."""
        if self._dropped is None:
            super().flush()
