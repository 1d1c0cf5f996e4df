"""An xlsx workbook, read as a stream: its size is estimated first, and empty space costs nothing."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.limits import FREE_WORKBOOK, MAX_FORMAT, MAX_SHEETS, MAX_WORKBOOK_RATIO
from sce_desktop.core.text import size_text
from sce_desktop.data.excel.number_formats import GENERAL, NumberFormat, built_in, number_format
from sce_desktop.data.excel.shared_texts import SharedTexts
from sce_desktop.data.excel.xlsx_xml import (
    DamagedError,
    Extent,
    HugeError,
    RawCell,
    elements,
    extent,
    sheet_rows,
    unescape,
)

_FORMATS = 1 << 16  # cell formats at most, as Excel has it
_BOOLEANS = {"1": "TRUE", "0": "FALSE", "true": "TRUE", "false": "FALSE"}


class Xlsx:
    """The sheets of an xlsx file. Raises `DamagedError` and the errors of zipfile and expat."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with zipfile.ZipFile(path) as archive:
            self._names = {name.replace("\\", "/").lower(): name for name in archive.namelist()}
            self._sizes = {info.filename: info.file_size for info in archive.infolist()}
            book = self._book(archive)
            parts = self._parts(archive, book)
            self.since_1904 = False
            found: list[tuple[bool, str, str]] = []
            for name, attributes, begins in self._elements(archive, book):
                if begins and name == "sheet":
                    kind, part = parts.get(attributes.get("id", ""), ("", ""))
                    if kind == "worksheet" and part in self._names:
                        hidden = attributes.get("state", "visible") != "visible"
                        found.append((hidden, attributes.get("name", ""), part))
                        if len(found) > MAX_SHEETS:
                            raise too_much(path)
                elif begins and name == "workbookPr":
                    self.since_1904 = attributes.get("date1904", "0") in ("1", "true", "on")
        found.sort(key=lambda sheet: sheet[0])  # hidden ones last
        self._sheets = {name: part for _, name, part in reversed(found)}
        self._unpacked = sum(self._sizes[self._names[part]] for part in set(self._sheets.values()))
        refuse_bomb(path, self._unpacked)
        self.sheets = tuple(dict.fromkeys(name for _, name, _ in found))
        kinds = dict(parts.values())
        self._styles, self._shared = kinds.get("styles", ""), kinds.get("sharedStrings", "")

    def extent(self, sheet: str) -> Extent:
        """Return where the filled cells of ``sheet`` are. Raises UserError for a sheet that is too large."""
        part = self._sheets[sheet]
        self._refuse_bomb(part)
        status = self.path.stat()
        try:
            return _extent(self.path, self._names[part], (status.st_mtime_ns, status.st_size, status.st_ino))
        except HugeError:
            raise too_much(self.path) from None

    def rows(self, sheet: str) -> Iterator[tuple[int, dict[int, str | None]]]:
        """Yield (number, texts by column) of the rows with a filled cell.

        None stands for a formula without a saved result. Raises UserError once the texts, which are stored
        once and may be used often, add up to what no table holds.
        """
        formats, shared = self._formats, self._texts
        limit = max(FREE_WORKBOOK, MAX_WORKBOOK_RATIO * self.path.stat().st_size)
        total = 0
        with zipfile.ZipFile(self.path) as archive, self._open(archive, self._sheets[sheet]) as stream:
            for number, cells in sheet_rows(stream):
                texts: dict[int, str | None] = {}
                for column, cell in cells.items():
                    text = self._text(cell, formats, shared)
                    texts[column] = text
                    total += len(text) if text else 0
                if total > limit:
                    raise UserError(
                        _(
                            "{file} repeats its texts until they fill more than {size}: save a "
                            "smaller table.",
                            file=self.path.name,
                            size=size_text(total),
                        )
                    )
                yield number, texts

    def _text(self, cell: RawCell, formats: list[NumberFormat], shared: SharedTexts) -> str | None:
        value, kind = cell.value, cell.kind
        if value is None:
            return None
        if kind == "s":
            try:
                number = int(value)
            except ValueError:
                number = -1
            try:
                return shared.text(number)
            except HugeError:
                raise too_much(self.path) from None
        if kind == "n":
            style = 0 if cell.style == "0" else _number(cell.style)
            known = formats[style] if style < len(formats) else GENERAL
            return known.text(value, since_1904=self.since_1904)
        if kind == "b":
            return _BOOLEANS.get(value.strip(), value)
        return unescape(value) if kind in ("str", "inlineStr") else value.strip()

    @cached_property
    def _texts(self) -> SharedTexts:
        if self._shared not in self._names:
            return SharedTexts(self.path, "")
        self._refuse_bomb(self._shared)
        return SharedTexts(self.path, self._names[self._shared], self._unpacked)

    @cached_property
    def _formats(self) -> list[NumberFormat]:
        """The number formats of the styles that cells name."""
        if self._styles not in self._names:
            return []
        codes: dict[int, str] = {}
        numbers: list[int] = []
        inside = False
        with zipfile.ZipFile(self.path) as archive:
            for name, attributes, begins in self._elements(archive, self._styles):
                if name == "cellXfs":
                    inside = begins
                elif begins and name == "numFmt":
                    codes[_number(attributes.get("numFmtId"))] = attributes.get("formatCode", "")[:MAX_FORMAT]
                elif begins and inside and name == "xf":
                    numbers.append(_number(attributes.get("numFmtId")))
                if len(numbers) > _FORMATS or len(codes) > _FORMATS:
                    raise DamagedError("more formats than a workbook has")
        known = {
            number: number_format(codes[number]) if number in codes else built_in(number)
            for number in set(numbers)
        }
        return [known[number] for number in numbers]

    def _book(self, archive: zipfile.ZipFile) -> str:
        """Return the part that lists the sheets."""
        if "_rels/.rels" in self._names:
            for name, attributes, begins in self._elements(archive, "_rels/.rels"):
                if (
                    begins
                    and name == "Relationship"
                    and attributes.get("Type", "").endswith("/officeDocument")
                ):
                    part = _resolved("", attributes.get("Target", ""))
                    if part in self._names:
                        return part
        if "xl/workbook.xml" not in self._names:
            raise DamagedError("no workbook in it")
        return "xl/workbook.xml"

    def _parts(self, archive: zipfile.ZipFile, book: str) -> dict[str, tuple[str, str]]:
        """Return the (kind, name) of the parts that the workbook refers to, by the id that it uses."""
        folder, _, name = book.rpartition("/")
        relations = f"{folder}/_rels/{name}.rels".lstrip("/")
        if relations not in self._names:
            raise DamagedError("no sheet in it")
        return {
            attributes.get("Id", ""): (
                attributes.get("Type", "").rpartition("/")[2],
                _resolved(folder, attributes.get("Target", "")),
            )
            for name, attributes, begins in self._elements(archive, relations)
            if begins and name == "Relationship"
        }

    def _elements(self, archive: zipfile.ZipFile, part: str) -> Iterator[tuple[str, dict[str, str], bool]]:
        self._refuse_bomb(part)
        with self._open(archive, part) as stream:
            try:
                yield from elements(stream)
            except HugeError:
                raise too_much(self.path) from None

    def _open(self, archive: zipfile.ZipFile, part: str) -> IO[bytes]:
        return archive.open(self._names[part])

    def _refuse_bomb(self, part: str) -> None:
        refuse_bomb(self.path, self._sizes[self._names[part]])


def refuse_bomb(path: Path, unpacked: int) -> None:
    """Raise UserError for a part that unpacks to more than tables do: zipfile reads no more than it says."""
    packed = path.stat().st_size
    if unpacked > max(FREE_WORKBOOK, MAX_WORKBOOK_RATIO * packed):
        raise UserError(
            _(
                "{file} unpacks to {size}, {times} times its size: save it again in Excel, or as CSV.",
                file=path.name,
                size=size_text(unpacked),
                times=number(unpacked // max(packed, 1)),
            )
        )


def too_much(path: Path) -> UserError:
    """Return the failure that ``path`` holds far more than its size lets expect."""
    return UserError(
        _(
            "{file} holds millions of blank cells, sheets or texts that no table needs: save the table as "
            "CSV.",
            file=path.name,
        )
    )


@lru_cache(maxsize=8)
def _extent(path: Path, name: str, _state: tuple[int, int, int]) -> Extent:
    """Look for the extent of a sheet once, however often the import dialog opens it."""
    with zipfile.ZipFile(path) as archive, archive.open(name) as stream:
        return extent(stream, path.stat().st_size)


def _resolved(folder: str, target: str) -> str:
    """Return the name of the part that a relation of a part in ``folder`` points to."""
    return posixpath.normpath(posixpath.join("/", folder, target.replace("\\", "/"))).lstrip("/").lower()


def _number(value: str | None) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 9 else 0
