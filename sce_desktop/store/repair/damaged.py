"""Finding the tables of a file that may be damaged anywhere, and reading what is left of them.

First the way that SQLite goes: from the schema to the root of each table and from there down. A page that
cannot be reached so, because something above it is broken, is known by what its records look like.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.store.content.rows import hash_text
from sce_desktop.store.file import formats, migrations, schema
from sce_desktop.store.file.shapes import Record, Shape, shapes
from sce_desktop.store.repair.pages import INDEX_INNER, INDEX_LEAF, TABLE_INNER, TABLE_LEAF, Cell, PageFile

_SAMPLE: Final = 20  # records by which a page is known
_CHECKED: Final = 500  # pages between two looks at cancel
_SCHEMA_KINDS: Final = ("tttit", "tttin")
_PAIRS: Final = "annotation_labels"
_PAIRS_INDEX: Final = "ix_annotation_labels_label_id"
_DECISIONS_INDEX: Final = "ix_annotations_decision"


class DamagedFile:
    """The tables of a file, as far as they can be read.

    ``lost`` counts by table the records that are seen to be there and cannot be read, ``broken`` the places
    where more of them were: nobody knows how many.
    """

    def __init__(self, pages: PageFile, progress: Progress) -> None:
        self._pages = pages
        self._progress = progress
        self._known = formats.of_version(migrations.schema_version())
        self._owners = bytearray(pages.count + 1)  # 1: reached from a root
        self._leaves: dict[str, list[int]] = defaultdict(list)
        self._strays: dict[str, list[int]] = defaultdict(list)  # known by their looks alone
        self._garbled: dict[str, list[int]] = defaultdict(list)  # pages that are none any more
        self.broken: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self.made_up_for: set[str] = set()  # tables that nothing is missing of though some was damaged
        self.replaced: Counter[str] = Counter()  # records with something of another kind in them
        self.roots = self._find_roots()
        entries = self._known.required | self._known.optional
        for entry in sorted(entries, key=lambda entry: (entry.name not in shapes(), entry)):
            self._walk(entry)
        self._take_strays()

    @property
    def version(self) -> int:
        """The format of the file, as far as it says so."""
        stated = self._pages.number(60) if self._pages.has_header else 0
        return stated if 1 <= stated <= migrations.schema_version() else migrations.schema_version()

    @property
    def is_project(self) -> bool:
        """Whether this is one of ours, by its mark or, where that is lost, by what is in it."""
        if self._pages.has_header and self._pages.number(68) == schema.APPLICATION_ID:
            return True
        if len(self.roots.keys() & shapes().keys()) > len(shapes()) // 2:
            return True
        if self._pages.has_header:
            return False
        return any(
            hash_text(str(record["text"])) == record["text_hash"]
            for record in itertools.islice(self.records("rows"), _SAMPLE)
        )

    @property
    def created(self) -> str:
        """When the project was made, by which it is told from others; empty where that is lost."""
        return next((str(record["created_at"]) for record in self.records("project")), "")

    def lacks(self, table: str) -> bool:
        """Whether there may be records of ``table`` that were not found."""
        return bool(self.broken[table] or self.lost[table]) and table not in self.made_up_for

    def is_missing(self, table: str) -> bool:
        """Whether the file has no such table although it should."""
        since = schema.metadata.tables[table].info.get("since", 1)
        return table not in self.roots and self.version >= since

    def records(self, table: str) -> Iterator[Record]:
        """Give every record of ``table`` that can be read; one may come twice where pages were left over."""
        shape = shapes()[table]
        self._pages.begin()
        self.lost[table] = self.replaced[table] = 0
        numbers = self._leaves[table] + self._strays[table]
        for place, number in enumerate(numbers):
            if place % _CHECKED == 0:
                self._progress.report(place, len(numbers), stage=_("Reading {table}", table=table))
                self._progress.check()
            failed = 0
            read: set[int] = set()
            strict = place >= len(self._leaves[table])
            for cell in self._pages.cells(number):
                record = self._record(shape, cell, strict=strict)
                if record is None:
                    failed += 1
                else:
                    read.add(cell.rowid if cell else 0)
                    yield record
            if failed:
                carved = [r for row, r in self._carved(shape, number) if row not in read]
                self.lost[table] += max(0, failed - len(carved))
                yield from carved
        for number in dict.fromkeys(self._garbled[table] + self._garbled[""]):
            self._progress.check()
            for _number, record in self._carved(shape, number):
                yield record

    def pairs(self, labels: Collection[int]) -> Iterator[tuple[int, int]]:
        """Give row and label of every decision, from their table and from the index that has the same."""
        for record in self.records(_PAIRS):
            row_id, label_id = record["row_id"], record["label_id"]
            assert isinstance(row_id, int)
            assert isinstance(label_id, int)
            yield row_id, label_id
        if self.lacks(_PAIRS):
            if not self.broken[_PAIRS_INDEX]:
                self.made_up_for.add(_PAIRS)
            for number in self._leaves[_PAIRS_INDEX]:
                for label_id, row_id in self._numbers(number):
                    yield row_id, label_id
            for number in self._strays[_PAIRS_INDEX]:
                found = self._numbers(number)
                turned = [(second, first) for first, second in found]
                yield from max(found, turned, key=lambda pairs: _looks_right(pairs, labels))

    def indexed_decisions(self) -> Iterator[tuple[int, str]]:
        """Give row and decision of what the index on decisions knows."""
        for number in self._leaves[_DECISIONS_INDEX] + self._strays[_DECISIONS_INDEX]:
            for cell in self._pages.cells(number):
                if cell and cell.kinds == "ti" and (values := self._pages.values(cell)):
                    decision, row_id = values
                    if isinstance(row_id, int) and decision in ("label", "none", "skipped"):
                        yield row_id, str(decision)

    # --- from the schema down

    def _find_roots(self) -> dict[str, int]:
        """Return the root page of every object whose name or text is still ours."""
        numbers, broken = self._tree("", 1, TABLE_INNER, TABLE_LEAF)
        self._leaves.pop("", None)
        if broken or not numbers:
            numbers += [
                number
                for number in range(2, self._pages.count + 1)
                if self._pages.kind(number) == TABLE_LEAF
                and any(cell and cell.kinds in _SCHEMA_KINDS for cell in self._sample(number))
            ]
        entries = self._known.required | self._known.optional
        by_name = {entry.name: entry for entry in entries}
        by_sql = {entry.sql: entry for entry in entries if entry.sql}
        roots: dict[str, int] = {}
        exact: set[str] = set()
        for number in numbers:
            for cell in self._pages.cells(number):
                if cell is None or cell.kinds not in _SCHEMA_KINDS:
                    continue
                _, name, _, root, sql = self._pages.values(cell) or [None] * 5
                same = by_sql.get(formats.canonical(str(sql or "")))
                entry = same or by_name.get(str(name))
                if entry and isinstance(root, int) and 1 < root <= self._pages.count:
                    if same or entry.name not in exact:
                        roots.setdefault(entry.name, root)
                    if same and entry.name not in exact:
                        exact.add(entry.name)
                        roots[entry.name] = root
        return roots

    def _walk(self, entry: formats.Entry) -> None:
        """Take all pages that belong to one table or index."""
        name = entry.name
        if name not in self.roots:
            self.broken[name] += entry in self._known.required
            return
        if entry.type == "table" and not entry.sql.endswith("WITHOUT ROWID"):
            numbers, broken = self._tree(name, self.roots[name], TABLE_INNER, TABLE_LEAF)
        else:
            numbers, broken = self._tree(name, self.roots[name], INDEX_INNER, INDEX_LEAF)
        shape = shapes().get(name)
        if shape is not None:
            for number in numbers:
                if self._is_of_another(shape, number):
                    self._owners[number] = 0
                    broken += 1
            numbers = [number for number in numbers if self._owners[number]]
        self._leaves[name] = numbers
        self.broken[name] += broken

    def _is_of_another(self, shape: Shape, number: int) -> bool:
        """Whether something else lies where a page of the table should be."""
        readable = False
        for cell in self._sample(number):
            readable = readable or cell is not None
            if cell and shape.loose.fullmatch(cell.kinds):
                return False
        return readable

    def _tree(self, name: str, root: int, inner: int, leaf: int) -> tuple[list[int], int]:
        """Return the pages with records below ``root`` in their order, and how often the way ended."""
        numbers: list[int] = []
        broken = 0
        below = [root]
        while below:
            number = below.pop()
            if not 0 < number <= self._pages.count or self._owners[number]:
                broken += 1
                continue
            kind = self._pages.kind(number)
            if kind not in (inner, leaf):
                broken += 1
                if kind == 0:
                    self._garbled[name].append(number)
                continue
            self._owners[number] = 1
            if kind in (leaf, INDEX_INNER):
                numbers.append(number)
            if kind == inner:
                below += list(self._pages.children(number))[::-1]
        return numbers, broken

    # --- by their looks

    def _take_strays(self) -> None:
        """Give the pages that nothing leads to to the table that their records look like."""
        free, sure = self._pages.free_pages()
        # Every page of a sound file belongs somewhere. Where the list of free pages is lost, what was deleted
        # long ago may be among them: then only what is missing is taken.
        wanted = [s for s in shapes().values() if (sure or self.broken[s.table]) and s.table != _PAIRS]
        for number in range(2, self._pages.count + 1):
            if number % _CHECKED == 0:
                self._progress.report(number, self._pages.count, stage=_("Searching for pages"))
                self._progress.check()
            if self._owners[number] or number in free:
                continue
            kind = self._pages.kind(number)
            if kind == 0 and self._pages.page(number)[0]:  # the rest of a long record begins with a zero
                self._garbled[""].append(number)
            if kind not in (TABLE_LEAF, INDEX_LEAF, INDEX_INNER):
                continue
            cells = [cell for cell in self._sample(number) if cell]
            kinds = Counter(cell.kinds for cell in cells)
            if kind != TABLE_LEAF and kinds["ii"] and (sure or self.broken[_PAIRS]):
                if not (self.broken["ix_rows_blank"] and {p[0] for p in self._numbers(number)} == {1}):
                    self._strays[_PAIRS_INDEX].append(number)
                    self.broken[_PAIRS] += not (self.broken[_PAIRS] or self.broken[_PAIRS_INDEX])
                continue
            if kind != TABLE_LEAF and kinds["ti"]:
                self._strays[_DECISIONS_INDEX].append(number)
                continue
            fits = {
                shape.table: sum(map(shape.fits, cells))
                for shape in wanted
                if shape.in_table == (kind == TABLE_LEAF)
            }
            best = max(fits, key=lambda table: fits[table], default="")
            if best and fits[best] and not (best == "audit_rows" and self._is_index_of_scores(cells)):
                self._strays[best].append(number)
                self.broken[best] += sure and not self.broken[best]

    def _is_index_of_scores(self, cells: list[Cell]) -> bool:
        """Whether triples of numbers are run, row and record: a sample's rows are in no order."""
        found = [self._pages.values(cell) for cell in cells if cell.kinds == "iii"]
        last = [values[2] for values in found if values and isinstance(values[2], int)]
        return len(last) > 2 and last == sorted(last)

    def _numbers(self, number: int) -> list[tuple[int, int]]:
        pairs = []
        for cell in self._pages.cells(number):
            if cell and cell.kinds == "ii" and (values := self._pages.values(cell)):
                first, second = values
                assert isinstance(first, int)
                assert isinstance(second, int)
                pairs.append((first, second))
        return pairs

    # --- records

    def _sample(self, number: int) -> Iterator[Cell | None]:
        return itertools.islice(self._pages.cells(number), _SAMPLE)

    def _record(self, shape: Shape, cell: Cell | None, *, strict: bool = True) -> Record | None:
        pattern = shape.kinds if strict else shape.loose
        if cell is None or not pattern.fullmatch(cell.kinds):
            return None
        values = self._pages.values(cell)
        if values is None:
            return None
        self.replaced[shape.table] += not shape.fits(cell)
        return shape.record(cell, values)

    def _carved(self, shape: Shape, number: int) -> Iterator[tuple[int, Record]]:
        """Give what can be taken out of a broken page and is certainly a record of the table."""
        for cell in shape.carve(self._pages, self._pages.page(number)):
            record = self._record(shape, cell)
            if record is None:
                continue
            if shape.table == "rows" and hash_text(str(record["text"])) != record["text_hash"]:
                continue
            if shape.table == "annotations" and record["decision"] not in ("label", "none", "skipped"):
                continue
            yield cell.rowid, record


def looks_like_project(path: Path) -> bool:
    """Whether a file that SQLite does not know as one of ours was one before its first page was damaged."""
    with contextlib.suppress(OSError), contextlib.closing(PageFile(path)) as pages:
        if pages.has_header and pages.number(68) == schema.APPLICATION_ID:
            return False
        return DamagedFile(pages, SilentProgress()).is_project
    return False


def _looks_right(pairs: list[tuple[int, int]], labels: Collection[int]) -> tuple[bool, int]:
    """Return how likely these are row and label and not the other way round: rows are more than labels."""
    known = all(label in labels for _, label in pairs)
    return known, len({row for row, _ in pairs}) - len({label for _, label in pairs})
