"""What the records of each table look like: by that its pages are known when nothing leads to them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from sce_desktop.store.file import formats, migrations, schema
from sce_desktop.store.repair.pages import Cell, PageFile, Value

Record = dict[str, Value]

_KINDS: Final[dict[type, str]] = {
    sa.Integer: "i",
    sa.Boolean: "i",
    sa.Text: "t",
    sa.JSON: "t",
    sa.Float: "ir",  # whole numbers are kept as such
    sa.LargeBinary: "b",
}
ESSENTIAL: Final = {
    # Without these a record is worth nothing; what else in it is of another kind is replaced.
    "project": {"columns", "text_columns"},
    "imports": {"rows", "last_row_id"},
    "rows": {"text"},
    "labels": {"name"},
    "label_sets": {"labels"},
    "annotations": {"decision"},
    "runs": {"alias", "kind", "labels"},
    "scores": {"run_id", "row_id", "probabilities"},
    "model_versions": {"name", "weights"},
    "audits": {"frame"},
    "coders": {"name"},
    "marks": set[str](),
}
INSTEAD: Final[dict[str, Value]] = {
    "created_at": "1970-01-01T00:00:00.000+00:00",
    "finished_at": "1970-01-01T00:00:00.000+00:00",
    "decided_at": "1970-01-01T00:00:00.000+00:00",
    "origin": "imported",
    "source": "{}",
    "settings": "{}",
    "metrics": "{}",
    "name": "?",
}
_BEGINNINGS: Final = {
    # How the types of a record begin, for those tables whose records are known by more than that.
    "rows": re.compile(rb"[\x07-\x12]\x00\x2c", re.DOTALL),
    "annotations": re.compile(rb"[\x06-\x0c]\x00[\x15\x17\x1b]", re.DOTALL),
    "scores": re.compile(rb"[\x08-\x0b][\x01-\x06\x08\x09]{3}[\x01-\x09]{2}[\x00-\x09]", re.DOTALL),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a table in a file, whose last ones older files lack."""

    table: str
    names: tuple[str, ...]
    kinds: re.Pattern[str]  # of `Cell.kinds`
    loose: re.Pattern[str]  # the same with anything where it can be replaced
    instead: tuple[tuple[str, Value], ...]  # of each column: its kinds and what replaces others
    in_table: bool  # and not in an index: WITHOUT ROWID
    numbered: bool  # the first column is the number of the record, which is kept elsewhere

    def fits(self, cell: Cell) -> bool:
        """Whether a record can be one of this table by the types of its columns."""
        return self.kinds.fullmatch(cell.kinds) is not None

    def record(self, cell: Cell, values: list[Value]) -> Record:
        """Return the columns by their names; what cannot be in one is replaced."""
        if not self.fits(cell):
            for place, (kind, (allowed, instead)) in enumerate(zip(cell.kinds, self.instead, strict=False)):
                if kind not in allowed:
                    values[place] = instead
        record = dict(zip(self.names, values, strict=False))
        if self.numbered:
            record[self.names[0]] = cell.rowid
        return record

    def carve(self, pages: PageFile, page: bytes) -> Iterator[Cell]:
        """Give records that lie in a page whose own list of them is broken."""
        beginning = _BEGINNINGS.get(self.table)
        if beginning is None:
            return
        end = 0
        for match in beginning.finditer(page):
            for start in range(max(end, match.start() - 12), match.start() - 1):
                cell = pages.cell(page, start, in_table=True)
                if cell and cell.size and _begins(page, start) == match.start() and self.fits(cell):
                    yield cell
                    end = match.start() + len(cell.local)
                    break


def _begins(page: bytes, at: int) -> int:
    """Return where the two numbers before a record end."""
    for _ in range(2):
        length = next((n for n in range(1, 9) if page[at + n - 1] < 0x80), 9)
        at += length
    return at


@functools.cache
def shapes() -> dict[str, Shape]:
    """Return the shape of each table."""
    last = migrations.schema_version()
    columns = [formats.of_version(version).columns for version in range(1, last + 1)]
    made = {}
    for table in schema.metadata.tables.values():
        kinds = [_KINDS[type(column.type)] + "n" * bool(column.nullable) for column in table.columns]
        in_table = table.dialect_options["sqlite"]["with_rowid"]
        keys = list(table.primary_key.columns)
        numbered = in_table and len(keys) == 1 and isinstance(keys[0].type, sa.Integer)
        if numbered:
            kinds[0] = "n"
        fewest = next(found[table.name] for found in columns if table.name in found)
        instead = []
        loose = kinds.copy()
        for place, column in enumerate(table.columns):
            replaced = 0 if set(kinds[place]) <= {"i", "r"} else b"" if kinds[place] == "b" else ""
            default = getattr(column.server_default, "arg", None)
            fallback = None if column.nullable else default or INSTEAD.get(column.name, replaced)
            instead.append((kinds[place], int(default) if default else fallback))
            if column.name not in ESSENTIAL.get(table.name, {column.name}) and not column.primary_key:
                loose[place] = "nirtb"
        made[table.name] = Shape(
            table=table.name,
            names=tuple(table.columns.keys()),
            kinds=_pattern(kinds, fewest),
            loose=_pattern(loose, fewest),
            instead=tuple(instead),
            in_table=in_table,
            numbered=numbered,
        )
    return made


def _pattern(kinds: list[str], fewest: int) -> re.Pattern[str]:
    needed, later = kinds[:fewest], kinds[fewest:]
    pattern = "".join(f"[{kind}]" for kind in needed)
    return re.compile(pattern + "".join(f"(?:[{kind}]" for kind in later) + ")?" * len(later))
