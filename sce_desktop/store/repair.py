"""Taking what can still be read out of a damaged project, and nothing that acts by itself."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import Origin
from sce_desktop.store import schema
from sce_desktop.store.damaged import DamagedFile, Record
from sce_desktop.store.database import connect, known_failures
from sce_desktop.store.label_sets import from_json
from sce_desktop.store.opening import new_file, write_schema
from sce_desktop.store.rows import hash_text
from sce_desktop.store.sql import now

# What a column of each kind holds in the file.
_STORED_AS: Final[dict[type, type | tuple[type, ...]]] = {
    sa.Integer: int,
    sa.Boolean: int,
    sa.Text: str,
    sa.JSON: str,
    sa.Float: (float, int),
    sa.LargeBinary: bytes,
}


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was brought over, and a sentence for everything that was not."""

    rows: int
    annotations: int
    scores: int
    problems: tuple[str, ...]


def repair_project(path: Path, copy: Path, progress: Progress) -> RepairReport:
    """Make a new project at ``copy`` of what can be read of the one at ``path``, which is left as it is.

    Rows keep their ids, so that decisions stay with their rows where others are lost.

    Raises:
        UserError: ``path`` is no SQLite file of ours, or ``copy`` exists.
    """
    if not path.is_file():
        raise UserError(f"{path.name} is not a file: choose a project file.")
    with (
        new_file(copy, overwrite=False) as draft,
        known_failures(path),
        contextlib.closing(connect(path.resolve(), "mode=ro")) as source,
    ):
        source.text_factory = lambda stored: stored.decode("utf-8", "replace")
        if source.execute("PRAGMA application_id").fetchone() != (schema.APPLICATION_ID,):
            raise UserError(f"{path.name} is not a project of SCE Desktop: choose a file that it has saved.")
        write_schema(draft, name=path.stem)
        with contextlib.closing(connect(draft, "mode=rw")) as target:
            target.execute("PRAGMA foreign_keys=OFF")  # parents may be lost; orphans are removed at the end
            target.execute("PRAGMA synchronous=OFF")  # new_file makes it durable as a whole
            target.execute("PRAGMA cache_size=-65536")
            target.execute("BEGIN")
            report = _Salvage(DamagedFile(source, progress), target).run()
            target.execute("COMMIT")
    return report


class _Salvage:
    """Puts what `DamagedFile` gives into a new project and makes it whole."""

    def __init__(self, source: DamagedFile, target: sqlite3.Connection) -> None:
        self._source = source
        self._target = target
        self._problems = source.problems

    def run(self) -> RepairReport:
        self._copy_project()
        self._copy_rows()
        self._copy("cell_types", end=self._last)
        self._copy("labels")
        self._copy("label_sets", check=_parse_labels)
        self._copy("annotations", end=self._last, check=lambda r: Origin(r["origin"]))
        self._copy("annotation_labels", key="row_id", end=self._last)
        self._complete_decisions()
        self._copy("marks", end=self._last)
        self._copy("runs", check=_parse_labels)
        self._copy("scores", key="rowid")
        self._copy("model_versions", check=_parse_version)
        for table in ("audits", "audit_rows", "coders", "other_annotations"):  # the history is not worth it
            self._copy(table)
        self._mend_labels()
        self._remove_orphans()
        return RepairReport(
            rows=self._count("rows"),
            annotations=self._count("annotations"),
            scores=self._count("scores"),
            problems=tuple(self._problems),
        )

    # --- table by table

    def _copy_project(self) -> None:
        for record in self._source.records("project"):
            with contextlib.suppress(ValueError, TypeError):
                columns, texts = json.loads(record["columns"]), json.loads(record["text_columns"])
                if all(isinstance(c, str) for c in columns) and all(0 <= t < len(columns) for t in texts):
                    self._target.execute(
                        "UPDATE project SET name = ?, created_at = ?, columns = ?, text_columns = ?",
                        (record["name"], record["created_at"], record["columns"], record["text_columns"]),
                    )
                    self._target.execute(
                        "UPDATE project SET label_set_id = ?, whole_table = ?, threshold = ?",
                        (record["label_set_id"], bool(record.get("whole_table")), record.get("threshold")),
                    )
                    self._columns, self._texts = columns, texts
                    return
        # Without the record nobody knows the place of the text among the columns: it becomes the last one.
        self._problems.append("The names of the columns are lost.")
        others = 0
        with contextlib.suppress(ValueError, TypeError, StopIteration):
            others = len(json.loads(next(self._source.records("rows"))["cells"]))
        self._columns = [*(f"column {number + 1}" for number in range(others)), "text"]
        self._texts = [others]
        self._target.execute(
            "UPDATE project SET columns = ?, text_columns = ?",
            (json.dumps(self._columns), json.dumps(self._texts)),
        )

    def _copy_rows(self) -> None:
        imports = list(self._source.records("imports"))
        self._last = max((record["last_row_id"] for record in imports), default=0)
        known = sum(record["rows"] for record in imports)
        odd = blank = 0
        changed: list[int] = []
        # Rows behind the last import are those of one that broke off; without any record of one, all count.
        for record in self._source.records("rows", end=self._last or None):
            row_id, text, cells = record["id"], record["text"], record["cells"]
            if not isinstance(text, str):
                text, cells = "", None
            if not self._fits(cells):
                odd += 1
                cells = json.dumps([None] * (len(self._columns) - 1))
            text_hash = hash_text(text)
            if text_hash != record["text_hash"]:
                changed.append(row_id)
            nothing = is_blank(text)
            blank += nothing
            self._target.execute(
                "INSERT OR IGNORE INTO rows (id, text_hash, length, blank, text, cells)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (row_id, text_hash, len(text), nothing, text, cells),
            )
        if odd:
            self._problems.append(f"Of {odd} rows only the text could be read.")
        if changed:
            self._problems.append(
                f"The text of {len(changed)} rows may not be what was imported, first in row {changed[0]}."
            )
        (total, self._last) = self._target.execute(
            "SELECT count(*), coalesce(max(id), 0) FROM rows"
        ).fetchone()
        if known > total:
            self._problems.append(f"{known - total} of {known} rows are lost.")
        (distinct,) = self._target.execute(
            "SELECT count(DISTINCT text_hash) FROM rows WHERE blank = 0"
        ).fetchone()
        self._target.execute(
            "INSERT INTO imports (source, rows, blank, duplicates, last_row_id, finished_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                imports[0]["source"] if imports else "{}",
                total,
                blank,
                total - blank - distinct,
                self._last,
                now(),
            ),
        )

    def _complete_decisions(self) -> None:
        """Take decisions whose own record is lost from their labels and from the index on decisions."""
        before = self._count("annotations")
        labelled = self._target.execute("SELECT DISTINCT row_id FROM annotation_labels").fetchall()
        known = [(row_id, "label") for (row_id,) in labelled] + self._source.indexed_decisions()
        self._target.executemany(
            "INSERT OR IGNORE INTO annotations (row_id, decision, origin, decided_at, queue)"
            " VALUES (?, ?, 'imported', ?, '')",
            [(row_id, decision, now()) for row_id, decision in known],
        )
        if found := self._count("annotations") - before:
            self._problems.append(f"Of {found} decisions the time and the origin are lost.")

    def _copy(
        self,
        table: str,
        *,
        key: str | None = None,
        end: int | None = None,
        check: Callable[[Record], object] | None = None,
    ) -> None:
        for record in self._source.records(table, key=key, end=end):
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
                _check_types(table, record)
                if check is not None:
                    check(record)
                self._target.execute(
                    f"INSERT OR IGNORE INTO {table} ({', '.join(record)})"
                    f" VALUES ({', '.join('?' * len(record))})",
                    list(record.values()),
                )

    def _fits(self, cells: object) -> bool:
        """Whether ``cells`` is what a row of this project can have; see `importing` for their form."""
        try:
            values = json.loads(cells) if isinstance(cells, str) else None
        except ValueError:
            return False
        lengths = {len(self._columns)} | ({len(self._columns) - 1} if len(self._texts) == 1 else set())
        return (
            isinstance(values, list)
            and len(values) in lengths
            and all(value is None or isinstance(value, str) for value in values)
        )

    # --- making it whole

    def _mend_labels(self) -> None:
        """Use the newest label set that is left if the active one is lost, and know all labels of it."""
        self._target.execute(
            "UPDATE project SET label_set_id = (SELECT max(id) FROM label_sets)"
            " WHERE label_set_id IS NULL OR label_set_id NOT IN (SELECT id FROM label_sets)"
        )
        found = self._target.execute(
            "SELECT labels FROM label_sets WHERE id = (SELECT label_set_id FROM project)"
        ).fetchone()
        used = {label.id: label.name for label in from_json(json.loads(found[0]))} if found else {}
        self._target.executemany(
            "INSERT OR IGNORE INTO labels (id, name, active) VALUES (?, ?, 1)", used.items()
        )
        self._target.execute("UPDATE labels SET active = 0")
        self._target.executemany("UPDATE labels SET active = 1 WHERE id = ?", [(id_,) for id_ in used])

    def _remove_orphans(self) -> None:
        """Remove what belongs to something that is lost."""
        for table, condition, told in (
            (
                "annotations",
                "row_id NOT IN (SELECT id FROM rows)",
                "{} decisions are about rows that are lost.",
            ),
            ("annotation_labels", "label_id NOT IN (SELECT id FROM labels)", "{} labels of rows are lost."),
            ("annotation_labels", "row_id NOT IN (SELECT row_id FROM annotations)", ""),
            (
                "annotations",
                "decision = 'label' AND row_id NOT IN (SELECT row_id FROM annotation_labels)",
                "{} decisions have lost their labels.",
            ),
            ("marks", "row_id NOT IN (SELECT id FROM rows)", "{} notes are about rows that are lost."),
            ("audits", "removed", ""),
            ("coders", "removed", ""),
            (
                "audit_rows",
                "audit_id NOT IN (SELECT id FROM audits) OR row_id NOT IN (SELECT id FROM rows)",
                "",
            ),
            (
                "other_annotations",
                "coder_id NOT IN (SELECT id FROM coders) OR row_id NOT IN (SELECT id FROM rows)",
                "",
            ),
            ("scores", "run_id NOT IN (SELECT id FROM runs) OR row_id NOT IN (SELECT id FROM rows)", ""),
            (
                "scores",
                "length(probabilities) <> 4 * (SELECT json_array_length(labels) FROM runs WHERE id = run_id)",
                "{} scores do not fit their labels.",
            ),
        ):
            removed = self._target.execute(f"DELETE FROM {table} WHERE {condition}").rowcount
            if removed and told:
                self._problems.append(told.format(removed))
        self._target.execute("UPDATE runs SET scored = (SELECT count(*) FROM scores WHERE run_id = runs.id)")

    def _count(self, table: str) -> int:
        (count,) = self._target.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(count)


def _check_types(table: str, record: Record) -> None:
    """Raise TypeError if a damaged record holds something else than its columns can; old ones lack some."""
    columns = schema.metadata.tables[table].columns
    for name, value in record.items():
        column = columns[name]
        if value is None and column.nullable:
            continue
        if not isinstance(value, _STORED_AS[type(column.type)]):
            raise TypeError(f"{column.name} is {value!r}")


def _parse_version(record: Record) -> None:
    """Raise if the settings or metrics of a model version make no sense."""
    for field in ("settings", "metrics"):
        json.loads(record[field]).items()


def _parse_labels(record: Record) -> object:
    """Raise if the labels of a record make no sense: whoever reads it later would stumble."""
    return from_json(json.loads(record["labels"]))
