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

    The zip file that writes to it is closed whenever its object goes, and would write its end then.
    """

    def __init__(self, path: Path, check: Check) -> None:
        super().__init__(io.FileIO(path, "w"), 1 << 16)
        self._check = check
        self._stopped = False

    def stop(self) -> None:
        """Drop what is written from here on."""
        self._stopped = True

    def write(self, data: Any) -> int:
        """Write ``data``."""
        if self._stopped:
            return len(data)
        try:
            self._check()
        except BaseException:
            self.stop()
            raise
        return super().write(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        return 0 if self._stopped else super().seek(offset, whence)

    def tell(self) -> int:
        """Return the place."""
        return 0 if self._stopped else super().tell()

    def flush(self) -> None:
        """Hand over what is held."""
        if not self._stopped:
            super().flush()
