"""The shared texts of an xlsx workbook, which cells name by their number, read as far as cells name them.

Writers number texts in the order in which a table first shows them. So the head of a table needs the first
few, and a preview of a large workbook does not wait for the rest.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sce_desktop.core.limits import FREE_TEXTS, MAX_SHARED, MAX_SHEET_CELL, SHARED_RATIO
from sce_desktop.data.excel.xlsx_xml import DamagedError, HugeError, new_parser, parsed, unescape

_TEXT_BYTES = 64  # that a text takes beside its characters
_REFERENCE = len('<c t="s"><v>0</v></c>')  # bytes of the shortest cell that names a text


class SharedTexts:
    """The texts of the part ``name`` of the workbook at ``path``; none if ``name`` is empty.

    ``sheets`` are the bytes that its sheets unpack to. Whoever writes a workbook writes the texts that
    its cells name, so that many more texts than cells have room for are refused.

    The file stays open until the last text was read, or this object goes.
    """

    def __init__(self, path: Path, name: str, sheets: int = 0) -> None:
        self.known: list[str] = []
        self._pieces = _pieces(path, name, sheets) if name else iter(())

    def text(self, number: int) -> str:
        """Return the text called ``number``. ``known`` holds those below it afterwards.

        Raises:
            DamagedError: There is no such text.
            HugeError: The texts are more, or longer, than the size of the file lets expect.
        """
        if number < 0:
            raise DamagedError("a text that is not there")
        while number >= len(self.known):
            piece = next(self._pieces, None)
            if piece is None:
                raise DamagedError("a text that is not there")
            self.known += piece
        return self.known[number]


def _pieces(path: Path, name: str, sheets: int) -> Iterator[list[str]]:
    most = FREE_TEXTS + sheets // _REFERENCE
    with zipfile.ZipFile(path) as archive, archive.open(name) as stream:
        yield from shared_texts(stream, path.stat().st_size, most)


def shared_texts(stream: IO[bytes], packed: int, most: int) -> Iterator[list[str]]:
    """Yield the texts of a part, those of each piece that is read together.

    A text is that of its runs (``t``), without the readings (``rPh``) that stand above them.

    Raises:
        DamagedError: It is no such part, or a text has no end.
        HugeError: They are more than ``most``, or would take more memory than a file of ``packed`` bytes
            lets expect.
    """
    parser = new_parser()
    texts: list[str] = []
    held: list[str] = []  # what stands in the run, or has come since the last one
    runs: list[str] = []  # of a text
    reading = False
    si, t, rph = "si", "t", "rPh"  # with the prefix of the root, once it has come

    def root(name: str, _: dict[str, str]) -> None:
        nonlocal si, t, rph
        prefix = name[: len(name) - len(name.rpartition(":")[2])]
        si, t, rph = f"{prefix}si", f"{prefix}t", f"{prefix}rPh"
        parser.StartElementHandler = start

    # Two million texts are ten million calls: these two do as little as they can.
    def start(name: str, _: dict[str, str]) -> None:
        nonlocal reading
        if name == t:
            held.clear()
        elif name == si:
            runs.clear()
        elif name == rph:
            reading = True

    def end(name: str) -> None:
        nonlocal reading
        if name == t:
            if not reading:
                runs.append(held[0] if len(held) == 1 else "".join(held))
        elif name == si:
            texts.append(unescape(runs[0] if len(runs) == 1 else "".join(runs)))
        elif name == rph:
            reading = False

    parser.StartElementHandler, parser.EndElementHandler = root, end
    parser.CharacterDataHandler = held.append
    size = count = 0
    for _piece in parsed(parser, stream):
        count += len(texts)
        size += sum(map(len, texts)) + _TEXT_BYTES * len(texts)
        if size > max(MAX_SHARED, SHARED_RATIO * packed) or count > most:
            raise HugeError
        if sum(map(len, held)) > MAX_SHEET_CELL:
            raise DamagedError("a text without end")
        yield texts.copy()
        texts.clear()
