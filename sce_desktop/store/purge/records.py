"""Which records of a project file a purge removes. Plain SQL for every format: copies may be older.

Row numbers never change: a row that goes leaves a gap, as a row does that `repair` could not read. The
imports count what is left of them. Only the numbers of rows at the very end are given to rows added later.

The undo history goes whole, whatever is purged. It holds former answers, notes and names in its records and
its sentences, and taking back one of its steps would bring something back or miss it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from typing import Any, Final

import numpy as np

from sce_desktop.core.labels import label_key
from sce_desktop.store.annotations.coders import REPEAT
from sce_desktop.store.file import schema
from sce_desktop.store.purge import wordings
from sce_desktop.store.repair.stored import read_json, read_labels

LabelNames = dict[int, list[str]]
"""All names that each label bears or has borne, by its id, the present one first."""

_GOING: Final = "(SELECT id FROM temp.going)"
_SEARCH: Final = (schema.SEARCH_TABLE, schema.FTS_TABLE)
_BY_ROW: Final = ("annotation_labels", "annotations", "marks", "audit_rows", "other_annotations")


class Records:
    """Removes records by a connection in a transaction, with foreign keys off: what is removed is whole."""

    def __init__(self, plain: sqlite3.Connection) -> None:
        self._plain = plain
        found = plain.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        self._tables = {name for (name,) in found}

    def drop_history(self) -> None:
        """Remove all steps that could be undone or done again, and what was removed undoably."""
        for table in ("actions", "row_changes"):
            if table in self._tables:
                self._plain.execute(f"DELETE FROM {table}")
        for owner, of_it in (("audits", "audit_rows"), ("coders", "other_annotations")):
            if owner in self._tables:
                key = f"{owner[:-1]}_id"
                self._plain.execute(
                    f"DELETE FROM {of_it} WHERE {key} IN (SELECT id FROM {owner} WHERE removed)"
                )
                self._plain.execute(f"DELETE FROM {owner} WHERE removed")
        for table in ("sqlite_stat1", "sqlite_stat4"):  # of another program: samples of what was indexed
            self._plain.execute(f"DROP TABLE IF EXISTS {table}")

    # --- rows

    def drop_rows(self, rows: Iterable[tuple[int, bytes]]) -> int:
        """Remove those rows, given by number and hash, that are there; return how many there were."""
        plain = self._plain
        plain.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (id INTEGER PRIMARY KEY, hash BLOB)")
        plain.execute("CREATE TEMP TABLE IF NOT EXISTS going (id INTEGER PRIMARY KEY)")
        plain.execute("DELETE FROM temp.wanted")
        plain.execute("DELETE FROM temp.going")
        plain.executemany("INSERT OR REPLACE INTO temp.wanted VALUES (?, ?)", rows)
        (last,) = plain.execute("SELECT coalesce(max(last_row_id), 0) FROM imports").fetchone()
        going = plain.execute(
            "INSERT INTO temp.going SELECT w.id FROM temp.wanted AS w JOIN rows AS r ON r.id = w.id"
            " WHERE r.text_hash = w.hash AND r.id <= ?",
            (last,),
        ).rowcount
        plain.execute("DELETE FROM temp.wanted")
        if not going:
            return 0
        for table in self._tables.intersection(_BY_ROW):
            plain.execute(f"DELETE FROM {table} WHERE row_id IN {_GOING}")
        for (run_id,) in plain.execute("SELECT id FROM runs").fetchall():  # by the index that begins with it
            plain.execute(f"DELETE FROM scores WHERE run_id = ? AND row_id IN {_GOING}", (run_id,))
        plain.execute("UPDATE runs SET scored = (SELECT count(*) FROM scores WHERE run_id = runs.id)")
        self._drop_search_index()
        plain.execute(f"DELETE FROM rows WHERE id IN {_GOING}")
        self._drop_silent_coders()
        self._shrink_audits()
        self._count_imports()
        self._trim_cell_types()
        self._clean_reports(rows=True)
        plain.execute("DELETE FROM temp.going")
        return going

    def _drop_search_index(self) -> None:
        """Remove the index as a whole: its terms cannot be taken out one by one. It is made again later."""
        self._plain.execute("UPDATE project SET searchable_to = 0")
        for table in _SEARCH:
            self._plain.execute(f"DROP TABLE IF EXISTS {table}")

    def _drop_silent_coders(self) -> None:
        if "coders" in self._tables:
            self._plain.execute("DELETE FROM coders WHERE id NOT IN (SELECT coder_id FROM other_annotations)")

    def _shrink_audits(self) -> None:
        """Take the rows out of what samples were drawn from: what is left is a random sample of the rest."""
        if "audits" not in self._tables:
            return
        going = np.array([id_ for (id_,) in self._plain.execute("SELECT id FROM temp.going")], np.int64)
        self._plain.execute("DELETE FROM audits WHERE id NOT IN (SELECT audit_id FROM audit_rows)")
        for audit_id, frame in self._plain.execute("SELECT id, frame FROM audits").fetchall():
            bits = np.unpackbits(np.frombuffer(frame, np.uint8))
            bits[going[going <= len(bits)] - 1] = 0
            self._plain.execute(
                "UPDATE audits SET frame = ? WHERE id = ?", (np.packbits(bits).tobytes(), audit_id)
            )

    def _count_imports(self) -> None:
        plain, before = self._plain, 0
        (greatest,) = plain.execute("SELECT coalesce(max(id), 0) FROM rows").fetchone()
        for import_id, last in plain.execute("SELECT id, last_row_id FROM imports ORDER BY id").fetchall():
            plain.execute(
                "UPDATE imports SET last_row_id = min(last_row_id, :greatest),"
                " rows = (SELECT count(*) FROM rows WHERE id > :before AND id <= :last),"
                " blank = (SELECT count(*) FROM rows WHERE blank = 1 AND id > :before AND id <= :last),"
                " duplicates = (SELECT count(*) FROM rows AS new"
                " WHERE blank = 0 AND id > :before AND id <= :last AND EXISTS"
                " (SELECT 1 FROM rows WHERE blank = 0 AND text_hash = new.text_hash AND id < new.id))"
                " WHERE id = :import",
                {"greatest": greatest, "before": before, "last": last, "import": import_id},
            )
            before = last

    def _trim_cell_types(self) -> None:
        if "cell_types" in self._tables:
            greatest = "(SELECT coalesce(max(id), 0) FROM rows)"
            self._plain.execute(f"DELETE FROM cell_types WHERE first_row > {greatest}")
            self._plain.execute(f"UPDATE cell_types SET last_row = min(last_row, {greatest})")

    # --- notes, labels, annotators

    def drop_notes(self) -> None:
        """Remove every note; flags and other marks stay."""
        self._plain.execute("UPDATE marks SET note = ''")
        self._plain.execute("DELETE FROM marks WHERE NOT unsure AND NOT flag")

    def labels_meant(self, names: LabelNames) -> list[int]:
        """Return the labels that are those of ``names``, as `label_names` of a project or a copy gives them.

        In a copy an id may be that of another label: one of its names must be the same. A label of the same
        present name is meant, too.
        """
        keys = {label_id: {label_key(name) for name in borne} for label_id, borne in names.items()}
        present = {label_key(borne[0]) for borne in names.values() if borne}
        return [
            label_id
            for label_id, borne in self.label_names().items()
            if keys.get(label_id, set()) & set(map(label_key, borne)) or label_key(borne[0]) in present
        ]

    def label_names(self) -> LabelNames:
        """Return all names that each label bears or has borne, the present one first."""
        names = {id_: [name] for id_, name in self._plain.execute("SELECT id, name FROM labels")}
        for (stored,) in self._plain.execute("SELECT labels FROM label_sets ORDER BY id DESC"):
            for label in read_labels(stored):
                borne = names.setdefault(label.id or 0, [])
                if label.name not in borne:
                    borne.append(label.name)
        return names

    def drop_labels(self, label_ids: Collection[int]) -> None:
        """Remove labels, their annotations by anybody, runs that know them, and their names everywhere."""
        plain, known = self._plain, self.label_names()
        names = {id_: known.pop(id_, []) for id_ in label_ids}
        present = {id_: borne[0] for id_, borne in known.items()}
        keys = {label_key(name) for borne in names.values() for name in borne}
        keys -= set(map(label_key, present.values()))  # another label has taken the name
        ids = json.dumps(sorted(label_ids))
        among = "IN (SELECT value FROM json_each(?))"
        plain.execute(f"DELETE FROM annotation_labels WHERE label_id {among}", (ids,))
        plain.execute(
            "DELETE FROM annotations WHERE decision = 'label'"
            " AND row_id NOT IN (SELECT row_id FROM annotation_labels)"
        )
        if "coders" in self._tables:
            plain.execute(f"DELETE FROM other_annotations WHERE label_id {among}", (ids,))
            words = [(w,) for (w,) in plain.execute("SELECT DISTINCT label FROM other_annotations")]
            going = [word for word in words if word[0] and label_key(word[0]) in keys]
            plain.executemany(  # a label that stays was called so
                "UPDATE OR IGNORE other_annotations SET label = (SELECT name FROM labels WHERE id = label_id)"
                " WHERE label = ? AND label_id IN (SELECT id FROM labels)",
                going,
            )
            plain.executemany("DELETE FROM other_annotations WHERE label = ?", going)
            self._drop_repeats(set(label_ids), keys)
            self._drop_silent_coders()
        for table in ("runs", "label_sets"):
            for record, stored in plain.execute(f"SELECT id, labels FROM {table}").fetchall():
                read_labels(stored)  # refuses what makes no sense
                labels = read_json(stored)
                kept = wordings.without(labels, set(label_ids), keys, present)
                if kept == labels:
                    continue
                if table == "runs":  # its probabilities are by the place of each label
                    plain.execute("DELETE FROM scores WHERE run_id = ?", (record,))
                    plain.execute("DELETE FROM runs WHERE id = ?", (record,))
                else:
                    plain.execute("UPDATE label_sets SET labels = ? WHERE id = ?", (json.dumps(kept), record))
        plain.execute(f"DELETE FROM labels WHERE id {among}", (ids,))
        self._clean_reports(names=names)

    def _drop_repeats(self, label_ids: set[int], keys: set[str]) -> None:
        """Remove second answers whose first one, kept in their source, was one of the labels."""
        for coder_id, source in self._plain.execute("SELECT id, source FROM coders").fetchall():
            if not source.startswith(REPEAT):
                continue
            try:
                first = [(str(word), int(label_id)) for word, label_id in json.loads(source[len(REPEAT) :])]
            except (ValueError, TypeError, RecursionError):
                continue
            if any(label_id in label_ids or label_key(word) in keys for word, label_id in first):
                self._plain.execute("DELETE FROM other_annotations WHERE coder_id = ?", (coder_id,))
                self._plain.execute("DELETE FROM coders WHERE id = ?", (coder_id,))

    def drop_annotators(self, names: Collection[str]) -> None:
        """Remove annotators and all that they answered."""
        if "coders" not in self._tables:
            return
        for name in names:
            self._plain.execute(
                "DELETE FROM other_annotations WHERE coder_id IN (SELECT id FROM coders WHERE name = ?)",
                (name,),
            )
            self._plain.execute("DELETE FROM coders WHERE name = ?", (name,))

    # --- what versions tell of their training

    def _clean_reports(self, *, rows: bool = False, names: dict[int, list[str]] | None = None) -> None:
        """Take rows or names out of the settings and results of versions; their weights stay."""
        if "model_versions" not in self._tables:
            return
        going: set[int] = set()
        if rows:
            going = {id_ for (id_,) in self._plain.execute("SELECT id FROM temp.going")}
        found = self._plain.execute("SELECT id, settings, metrics FROM model_versions").fetchall()
        for version, *stored in found:
            before: list[Any] = [read_json(text) for text in stored]
            after = [wordings.cleaned(one, going, names or {}) for one in before]
            if after != before:
                self._plain.execute(
                    "UPDATE model_versions SET settings = ?, metrics = ? WHERE id = ?",
                    (*map(json.dumps, after), version),
                )
