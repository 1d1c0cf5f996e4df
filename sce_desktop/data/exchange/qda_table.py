"""A project of QDA-XML (.qdpx, .qde) as a table: a row for each coded part of a text."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.limits import MAX_SHEET_AREA
from sce_desktop.core.names import numbered
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.excel.xlsx import refuse_bomb
from sce_desktop.data.excel.xlsx_xml import DamagedError, HugeError
from sce_desktop.data.excel.zip_parts import has_many_parts
from sce_desktop.data.exchange.qda_read import QdaProject, Source, read_xml
from sce_desktop.data.exchange.qda_xml import NONE_OF_THESE, ORIGIN, OWN
from sce_desktop.data.exchange.records import Incoming, Names, NoTableError, as_rows
from sce_desktop.data.reader import Cells, Table

ENDINGS: Final = (".qdpx", ".qde")
CODEBOOK_ENDING: Final = ".qdc"
_SOURCE, _START, _END, _TEXT = "source", "start", "end", "text"
_CHUNK = 1000


class QdaTable(Table):
    """The texts of a project: whole ones where a code is on the whole or on none of it, else coded parts."""

    kind = "qda-xml"

    def __init__(self, path: Path, options: TableOptions) -> None:
        super().__init__(path)
        self.options = TableOptions(encoding=options.encoding)
        with _reading(path):
            self._rows = self._read()
        if not self._rows:
            raise UserError(_("{file} has no texts: choose a project with text sources.", file=path.name))
        self.columns = tuple(self._rows[0])
        self.estimated_rows = len(self._rows)
        self.annotated = True
        self.notes = (*self.notes, _("This is a project of QDA-XML: its codings are restored as labels."))

    def _chunks(self, progress: Progress) -> Iterator[tuple[list[Cells], float]]:
        for start in range(0, len(self._rows), _CHUNK):
            some = self._rows[start : start + _CHUNK]
            rows = [tuple(row.get(name) for name in self.columns) for row in some]
            yield rows, (start + len(some)) / len(self._rows)

    def _read(self) -> list[dict[str, Any]]:
        if self.path.suffix.lower() == ".qde":
            with self.path.open("rb") as plain:
                found = read_xml(plain)
            return self._as_rows(found, lambda source: source.text)
        if has_many_parts(self.path):
            raise HugeError
        with zipfile.ZipFile(self.path) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            refuse_bomb(self.path, sum(sizes.values()))
            inner = next((name for name in sizes if name.lower().endswith("project.qde")), None)
            if inner is None:
                raise DamagedError("no project.qde")
            with archive.open(inner) as stream:
                found = read_xml(stream)
            known = {name.rpartition("/")[2].lower(): name for name in sizes}

            @cache  # sources may share a part
            def read(part: str) -> str:
                return archive.read(part).decode("utf-8-sig", "replace")

            def text_of(source: Source) -> str | None:
                if source.text is not None:
                    return source.text
                scheme, _sign, name = source.path.partition("://")
                part = known.get(name.rpartition("/")[2].lower()) if scheme == "internal" else None
                return None if part is None else read(part)

            return self._as_rows(found, text_of)

    def _as_rows(self, found: QdaProject, text_of: Any) -> list[dict[str, Any]]:
        rows: list[Incoming] = []
        missing = characters = cells = 0
        parts = False
        columns = _columns(found)
        for source in found.sources:
            text = text_of(source)
            if text is None:
                missing += 1
                continue
            own = list(_parts(source, text))
            parts = parts or any(start or end < len(text) for start, end, _codings in own)
            notes = [found.notes.get(note, "") for note in dict.fromkeys(source.notes)]
            if source.memo and source.memo not in notes:
                notes.insert(0, source.memo)
            # Parts may overlap, and each has what is said of the whole: a small file fills gigabytes so.
            beside = sum(map(len, notes)) + sum(map(len, source.values.values()))
            characters += sum(end - start + beside for start, end, _codings in own)
            refuse_bomb(self.path, characters)
            cells += len(own) * len(source.values)
            if cells > MAX_SHEET_AREA:
                raise HugeError
            note = "\n".join(filter(None, notes))
            for start, end, codings in own:
                rows.append(_row(found, columns, source, text[start:end], start, end, codings))
                rows[-1].note = note
        if not parts:
            for row in rows:
                del row.data[_START], row.data[_END]
        self._report(found, missing)
        return as_rows(rows)

    def _report(self, found: QdaProject, missing: int) -> None:
        notes = []
        if found.other_sources:
            notes.append(
                ngettext(
                    "{count} source that is not a text was skipped.",
                    "{count} sources that are not texts were skipped.",
                    found.other_sources,
                )
            )
        if missing:
            notes.append(
                ngettext(
                    "The text of {count} source is not in the file: it was skipped.",
                    "The texts of {count} sources are not in the file: they were skipped.",
                    missing,
                )
            )
        self.notes = tuple(notes)


_Coding = tuple[str, str, str]


def _parts(source: Source, text: str) -> Iterator[tuple[int, int, list[_Coding]]]:
    """Yield the parts of a text that have codes, in their order; all of it where none has."""
    found: dict[tuple[int, int], list[_Coding]] = {}
    for selection in source.selections:
        if not selection.codings:
            continue  # a comment on a part of the text
        start, end = min(selection.start, len(text)), min(selection.end, len(text))
        if start < end:
            found.setdefault((start, end), []).extend(selection.codings)
    if source.codings or not found:
        found.setdefault((0, len(text)), []).extend(source.codings)
    for start, end in sorted(found):
        yield start, end, found[start, end]


def _columns(found: QdaProject) -> dict[str, str]:
    """Return the column of each variable that has a name; no two are the same, and none is ours."""
    named = {variable: name for variable, name in found.variables.items() if name}
    own = (_SOURCE, _START, _END, _TEXT)
    return dict(zip(named, numbered([*own, *named.values()])[len(own) :], strict=True))


def _row(
    found: QdaProject,
    columns: Mapping[str, str],
    source: Source,
    text: str,
    start: int,
    end: int,
    codings: Sequence[_Coding],
) -> Incoming:
    data: dict[str, Any] = {_SOURCE: source.name, _START: str(start), _END: str(end)}
    # A tool that it went through says its own name, and keeps that of the user.
    ours = found.origin == ORIGIN or OWN in found.users.values()
    none = False
    for variable, value in source.values.items():
        if ours and found.variables.get(variable) == NONE_OF_THESE:
            none = True
        elif name := columns.get(variable):
            data[name] = value
    data[_TEXT] = text
    row = Incoming(data)
    given: dict[str, dict[str, None]] = {}
    for code, user, moment in codings:
        if name := found.codes.get(code, ""):
            given.setdefault(found.users.get(user, ""), {})[name] = None
            row.decided_at = max(row.decided_at, moment)
    row.given = [(who, tuple(labels)) for who, labels in given.items()]
    if ours:
        own: Names | None = next((labels for who, labels in row.given if who == OWN), () if none else None)
        row.from_project, row.own = True, own
        row.given = [(who, labels) for who, labels in row.given if who != OWN]
    return row


def read_codebook(path: Path) -> tuple[Label, ...]:
    """Return the labels of a codebook (.qdc), those within others as "Parent > Child".

    Raises:
        UserError: It is none, or its codes will not do as labels.
    """
    with _reading(path), path.open("rb") as stream:
        found = read_xml(stream)
    return clean_labels(found.labels)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Say in a sentence what is wrong with a file that cannot be read."""
    try:
        yield
    except (
        DamagedError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise UserError(
            _("{file} is not QDA-XML, or is damaged: export the project again.", file=path.name)
        ) from error
    except (HugeError, NoTableError, MemoryError):
        raise UserError(
            _("{file} holds millions of elements that no project needs: export it again.", file=path.name)
        ) from None
    except OSError as error:
        raise UserError(
            _("{file} cannot be read ({reason}).", file=path.name, reason=error.strerror or error)
        ) from error
