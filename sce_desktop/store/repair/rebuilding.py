"""Rebuilds what was copied from a damaged file: derived values are computed again, orphans removed."""

from __future__ import annotations

import json
import sqlite3
from typing import Final

import numpy as np

from sce_desktop.core import scoring
from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.progress import Progress
from sce_desktop.store.annotations.label_sets import to_json
from sce_desktop.store.repair.damaged import DamagedFile
from sce_desktop.store.repair.salvage import Problems
from sce_desktop.store.repair.stored import read_labels
from sce_desktop.store.rules import relations
from sce_desktop.store.sql import now

_BATCH: Final = 2_000
_STORED: Final = np.dtype("<f4")
_MOST: Final = 1.001  # a probability, rounded
_MOST_LABEL: Final = 100_000  # a greater id of a label without a name is garbage
_REMOVED: Final = ("audits", "coders")  # those that were removed stay behind with the history


class Rebuilding:
    """Works on the new file alone, but for what indexes of the damaged one still know."""

    def __init__(
        self, source: DamagedFile, target: sqlite3.Connection, problems: Problems, progress: Progress
    ) -> None:
        self._source = source
        self._target = target
        self._problems = problems
        self._progress = progress

    def run(self) -> None:
        """Make everything whole."""
        self._complete_decisions()
        self._complete_labels()
        self._choose_label_set()
        for table in _REMOVED:
            self._target.execute(f"DELETE FROM {table} WHERE removed")
        self._remove_orphans()
        self._compute_scores()
        scored = "(SELECT count(*) FROM scores WHERE run_id = runs.id)"
        (short,) = self._target.execute(
            f"SELECT EXISTS (SELECT 1 FROM runs WHERE scored <> {scored})"
        ).fetchone()
        if not short and not self._source.lacks("runs"):
            self._source.made_up_for.add("scores")
        self._target.execute(f"UPDATE runs SET scored = {scored}")
        self._show_one_run()

    def _remove_orphans(self) -> None:
        """Restore what has to be true between records; nobody misses what belonged to something removed."""
        relations.register(self._target)
        for table, column, owner in (
            ("audit_rows", "audit_id", "audits"),
            ("other_annotations", "coder_id", "coders"),
        ):
            self._target.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM {owner})")
        for rule in relations.RELATIONS:
            if problem := rule.restore(self._target):
                self._problems.append(problem)

    def _complete_decisions(self) -> None:
        """Take decisions whose own record is lost from their labels and from the index on decisions."""
        if not self._source.lacks("annotations"):
            return
        insert = (
            "INSERT OR IGNORE INTO annotations (row_id, decision, origin, decided_at, queue)"
            " VALUES (?, ?, 'imported', ?, '')"
        )
        before = self._count("annotations")
        others = ((r, d) for r, d in self._source.indexed_decisions() if d != "label")
        self._target.executemany(insert, ((row_id, decision, now()) for row_id, decision in others))
        labelled = self._target.execute("SELECT DISTINCT row_id FROM annotation_labels").fetchall()
        self._target.executemany(insert, ((row_id, "label", now()) for (row_id,) in labelled))
        if found := self._count("annotations") - before:
            self._problems.append(
                ngettext(
                    "The time and origin of {count} annotation are lost.",
                    "The time and origin of {count} annotations are lost.",
                    found,
                )
            )

    def _complete_labels(self) -> None:
        """Know every label that a label set or a run names; a label that is only used gets a name."""
        for table in ("label_sets", "runs"):
            for (stored,) in self._target.execute(f"SELECT labels FROM {table} ORDER BY id DESC").fetchall():
                self._target.executemany(
                    "INSERT OR IGNORE INTO labels (id, name, active) VALUES (?, ?, 0)",
                    [(label.id, label.name) for label in read_labels(stored)],
                )
        if not self._source.lacks("labels"):
            return
        unknown = self._target.execute(
            "SELECT DISTINCT label_id FROM annotation_labels"
            " WHERE label_id BETWEEN 1 AND ? AND label_id NOT IN (SELECT id FROM labels)",
            (_MOST_LABEL,),
        ).fetchall()
        self._target.executemany(
            "INSERT INTO labels (id, name, active) VALUES (?, ?, 1)",
            [(label_id, _("Label {number}", number=label_id)) for (label_id,) in unknown],
        )
        if unknown:
            self._problems.append(
                ngettext(
                    "The name of {count} label is lost: rename “{name}”.",
                    "The names of {count} labels are lost: rename “{name}” and the others.",
                    len(unknown),
                    name=_("Label {number}", number=unknown[0][0]),
                )
            )

    def _choose_label_set(self) -> None:
        """Use the newest label set that is left if the active one is lost, or make one of the labels."""
        target = self._target
        target.execute(
            "UPDATE project SET label_set_id = (SELECT max(id) FROM label_sets)"
            " WHERE label_set_id IS NULL OR label_set_id NOT IN (SELECT id FROM label_sets)"
        )
        found = target.execute(
            "SELECT labels FROM label_sets WHERE id = (SELECT label_set_id FROM project)"
        ).fetchone()
        if found is None:
            labels = self._labels_without_set()
            if not labels:
                return
            (several,) = target.execute(
                "SELECT EXISTS (SELECT 1 FROM annotation_labels GROUP BY row_id HAVING count(*) > 1)"
                " OR EXISTS (SELECT 1 FROM runs WHERE multi_label)"
            ).fetchone()
            target.execute(
                "INSERT INTO label_sets (id, name, version, labels, multi_label, created_at)"
                " VALUES (1, 'Labels', 1, ?, ?, ?)",
                (json.dumps(to_json(labels)), several, now()),
            )
            target.execute("UPDATE project SET label_set_id = 1")
            self._problems.append(_("The label set is lost: a new one was made from the remaining labels."))
        else:
            labels = read_labels(found[0])
        used = {label.id: label.name for label in labels}
        target.executemany("INSERT OR IGNORE INTO labels (id, name, active) VALUES (?, ?, 1)", used.items())
        target.execute("UPDATE labels SET active = 0")
        target.executemany(
            "UPDATE labels SET active = 1, name = ? WHERE id = ?", [(name, id_) for id_, name in used.items()]
        )

    def _labels_without_set(self) -> tuple[Label, ...]:
        """Return the labels in use, with all that the newest run knows of them."""
        known: dict[int | None, Label] = {}
        for (stored,) in self._target.execute("SELECT labels FROM runs ORDER BY id"):
            known |= {label.id: label for label in read_labels(stored)}
        active = self._target.execute("SELECT id, name FROM labels WHERE active ORDER BY id").fetchall()
        if not active:
            active = self._target.execute("SELECT id, name FROM labels ORDER BY id").fetchall()
        labels: dict[str, Label] = {}
        for id_, name in active:
            label = known.get(id_)
            labels.setdefault(name, label if label and label.name == name else Label(name, id=id_))
        return tuple(labels.values())

    def _compute_scores(self) -> None:
        """Make again what follows from the probabilities: the best label, its confidence and margin."""
        recomputed = unusable = last = 0
        while True:
            found = self._target.execute(
                "SELECT rowid, top, confidence, margin, probabilities FROM scores WHERE rowid > ?"
                " ORDER BY rowid LIMIT ?",
                (last, _BATCH),
            ).fetchall()
            if not found:
                break
            self._progress.check()
            last = found[-1][0]
            by_length: dict[int, list[tuple[int, int, float, float, bytes]]] = {}
            for record in found:
                by_length.setdefault(len(record[-1]), []).append(record)
            for records in by_length.values():
                vectors = np.frombuffer(b"".join(r[-1] for r in records), _STORED).reshape(len(records), -1)
                bounds = zip(vectors.min(axis=1).tolist(), vectors.max(axis=1).tolist(), strict=True)
                sound = [low >= 0 and high <= _MOST for low, high in bounds]  # no NaN either
                top, confidence, margin = (a.tolist() for a in scoring.top(vectors))
                changes, gone = [], []
                for place, (rowid, *stored, _vector) in enumerate(records):
                    right = [top[place], confidence[place], margin[place]]
                    if not sound[place]:
                        gone.append((rowid,))
                    elif stored != right:
                        changes.append((*right, rowid))
                self._target.executemany(
                    "UPDATE scores SET top = ?, confidence = ?, margin = ? WHERE rowid = ?", changes
                )
                self._target.executemany("DELETE FROM scores WHERE rowid = ?", gone)
                recomputed += len(changes)
                unusable += len(gone)
        if recomputed:
            self._problems.append(
                ngettext(
                    "The best label of {count} prediction was recomputed.",
                    "The best labels of {count} predictions were recomputed.",
                    recomputed,
                )
            )
        if unusable:
            self._problems.append(
                ngettext(
                    "{count} invalid prediction was excluded.",
                    "{count} invalid predictions were excluded.",
                    unusable,
                )
            )

    def _show_one_run(self) -> None:
        """Let one run at most be shown under each alias, and one model version at most be in use."""
        for table, same in (("runs", "other.alias = runs.alias"), ("model_versions", "1")):
            self._target.execute(
                f"UPDATE {table} SET active = 0 WHERE active AND id <>"
                f" (SELECT max(id) FROM {table} AS other WHERE other.active AND {same})"
            )

    def _count(self, table: str) -> int:
        (count,) = self._target.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(count)
