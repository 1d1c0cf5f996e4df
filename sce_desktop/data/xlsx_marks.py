"""What calamine does not tell of an xlsx sheet: which cells are percents, and which error a cell shows."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple
from xml.etree import ElementTree

_CHUNK = 1 << 20
_BUILT_IN_PERCENTS = {9, 10}


class Mark(NamedTuple):
    """The text of the cell in 1-based ``row`` and ``column``."""

    row: int
    column: int
    text: str


def marked_cells(path: Path, sheet: str) -> Iterator[Mark]:
    """Yield the percent and error cells of ``sheet`` in the order of the file; nothing unless it is xlsx."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        part = _part(archive, sheet)
        if part is None:
            return
        percents = _percent_styles(archive)
        with archive.open(part) as stream:
            needed = _occurs(stream, percents)
        if needed:
            with archive.open(part) as stream:
                yield from _marks(stream, percents)


def _part(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Return the name of the part of the archive that holds ``sheet``."""
    names = set(archive.namelist())
    if not {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= names:
        return None
    for element in _elements(archive, "xl/workbook.xml", "sheet"):
        if element.get("name") == sheet:
            relation = next((value for key, value in element.items() if _local(key) == "id"), None)
            break
    else:
        return None
    for element in _elements(archive, "xl/_rels/workbook.xml.rels", "Relationship"):
        if element.get("Id") == relation:
            part = posixpath.normpath(posixpath.join("/xl", element.get("Target", ""))).lstrip("/")
            return part if part in names else None
    return None


def _percent_styles(archive: zipfile.ZipFile) -> set[str]:
    """Return the style numbers of cells whose number format shows a percent sign that is not just text."""
    if "xl/styles.xml" not in archive.namelist():
        return set()
    root = ElementTree.fromstring(archive.read("xl/styles.xml"))
    percents = set(_BUILT_IN_PERCENTS)
    for element in root.iter():
        if _local(element.tag) == "numFmt":
            code = re.sub(r'"[^"]*"|\\.|\[[^]]*\]', "", element.get("formatCode", ""))
            if "%" in code:
                percents.add(int(element.get("numFmtId", "-1")))
    formats = next((element for element in root if _local(element.tag) == "cellXfs"), ())
    return {str(index) for index, xf in enumerate(formats) if int(xf.get("numFmtId", "0")) in percents}


def _occurs(stream: IO[bytes], percents: set[str]) -> bool:
    """Whether an error or a style of ``percents`` is in the sheet at all: parsing it takes far longer."""
    wanted = re.compile(rb't="e"' + b"".join(rb'|\bs="%s"' % style.encode() for style in sorted(percents)))
    tail = b""
    while chunk := stream.read(_CHUNK):
        if wanted.search(tail + chunk):
            return True
        tail = chunk[-16:]
    return False


def _marks(stream: IO[bytes], percents: set[str]) -> Iterator[Mark]:
    row = column = 0
    rows: ElementTree.Element | None = None
    for event, element in ElementTree.iterparse(stream, events=("start", "end")):
        name = _local(element.tag)
        if event == "start" and name == "sheetData":
            rows = element
        elif event == "start" and name == "row":
            row, column = int(element.get("r", row + 1)), 0
        elif event == "start" and name == "c":
            column = _column(element.get("r", "")) or column + 1
        elif event == "end" and name == "c":
            value = next((child.text for child in element if _local(child.tag) == "v"), None)
            kind = element.get("t", "n")
            if value and kind == "e":
                yield Mark(row, column, value)
            elif value and kind == "n" and element.get("s") in percents:
                yield Mark(row, column, f"{float(value) * 100:.15g}%")
        elif event == "end" and name == "row" and rows is not None:
            rows.clear()


def _column(reference: str) -> int:
    """Return the 1-based column of a reference such as AB12, 0 if there is none."""
    column = 0
    for letter in reference:
        if not letter.isalpha():
            break
        column = column * 26 + ord(letter.upper()) - ord("A") + 1
    return column


def _elements(archive: zipfile.ZipFile, part: str, name: str) -> Iterator[ElementTree.Element]:
    return (e for e in ElementTree.fromstring(archive.read(part)).iter() if _local(e.tag) == name)


def _local(name: str) -> str:
    return name.rpartition("}")[2]
