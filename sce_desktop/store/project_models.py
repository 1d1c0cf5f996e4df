"""The face of a project, as far as models go: runs and model versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import ChangeKind, Label
from sce_desktop.core.arrays import FloatArray, IdArray, true_places
from sce_desktop.core.i18n import _
from sce_desktop.core.query import FinalSource
from sce_desktop.core.runs import KeptModel, ModelKind, Run, Scores
from sce_desktop.core.training import FinetuneSettings, TrainingReport
from sce_desktop.core.versions import ModelVersion
from sce_desktop.store.annotations import history
from sce_desktop.store.content import select
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.runs import bulk, final, run_matrix, runs, versions
from sce_desktop.store.runs.bulk import ScoresOfRows
from sce_desktop.store.runs.runs import RowScore, RunArrays
from sce_desktop.store.runs.scored import ScoredRuns
from sce_desktop.store.sql import Ids


class ModelMethods:
    """A part of `Project`."""

    _database: Database
    _scored: ScoredRuns

    # --- runs

    def open_run(
        self,
        alias: str,
        kind: ModelKind,
        model: str,
        fingerprint: str,
        labels: Sequence[Label],
        multi_label: bool = False,
        whole_table: bool = False,
    ) -> Run:
        """Return the run to put scores into; the first of its alias is active from the start.

        It is the one that there is, finished or not, if alias, fingerprint, labels (ids, names, descriptions,
        synonyms, order), ``multi_label`` and ``whole_table`` are the same. ValueError if a label has no id.
        """
        with self._database.write(durable=True) as connection:
            return runs.open_run(
                connection,
                alias=alias,
                kind=kind,
                model=model,
                fingerprint=fingerprint,
                labels=labels,
                multi_label=multi_label,
                whole_table=whole_table,
            )

    def add_scores(self, run_id: int, row_ids: Ids, scores: Scores) -> None:
        """Keep the scores of ``row_ids`` (n,); rows that the run has scored before keep what they have.

        ValueError if a row is not in the project or the numbers do not fit the run's labels.
        """
        runs.add_scores(self._database, run_id, row_ids, scores)

    def unscored_ids(self, run_id: int) -> IdArray:
        """Return the rows that are not blank and have no score in this run, in file order."""
        with self._database.read() as connection:
            return select.unscored_ids(connection, run_id, self._scored)

    def scores(self, run_id: int, ids: Ids) -> dict[int, RowScore]:
        """Return what a run says about ``ids`` by row; rows without a score are absent."""
        with self._database.read() as connection:
            return runs.fetch(connection, run_id, ids)

    def scores_of_rows(self, run_id: int, ids: Ids) -> ScoresOfRows:
        """Return what a run says about ``ids`` as arrays, in their order."""
        with self._database.read() as connection:
            return bulk.fetch(connection, run_id, ids)

    def run_arrays(self, run_id: int) -> RunArrays:
        """Return best label, confidence and margin (n,) of every scored row, in file order."""
        with self._database.read() as connection:
            return runs.arrays(self._scored.get(connection, run_id))

    def confident_rows(self, run_id: int, least: float) -> tuple[IdArray, NDArray[np.integer[Any]]]:
        """Return the rows (n,) in file order whose best label has a confidence of ``least``, and its place.

        Few of many rows: nothing is made of the others.
        """
        with self._database.read() as connection:
            found = self._scored.get(connection, run_id)
        ids = true_places((found.top >= 0) & (found.confidence >= np.float32(least)))
        return ids, found.top[ids]

    def first_scored(self, run_id: int) -> IdArray:
        """Return the first row (1,) in file order that a run has scored; (0,) if there is none."""
        with self._database.read() as connection:
            return runs.first_scored(connection, run_id)

    def unfitting_ids(self, run_id: int) -> IdArray:
        """Return the rows about which a run says that no label fits, in file order."""
        with self._database.read() as connection:
            return np.flatnonzero(runs.given(connection, runs.get(connection, run_id), self._scored) == -2)

    def final_sources(
        self, run_id: int | None, threshold: float | None = None
    ) -> tuple[IdArray, NDArray[np.uint8]]:
        """Return who gives the final label of each row with text: ids (n,) in file order and codes (n,).

        Codes are places in `final.SOURCES`. ``run_id`` is the model's, None: there is none; ``threshold``:
        the confidence from which up it labels, None: the project's own.
        """
        with self._database.read() as connection:
            return final.sources(connection, run_id, threshold, self._scored)

    def final_counts(self, run_id: int | None) -> dict[FinalSource, int]:
        """Return how many rows with text have their final label from each source; see `final_sources`."""
        with self._database.read() as connection:
            return final.source_counts(connection, run_id, self._scored)

    def run_matrix(self, run_id: int) -> tuple[IdArray, FloatArray]:
        """Return the scored rows (n,) in file order and all their probabilities (n, K)."""
        with self._database.read() as connection:
            return run_matrix.matrix(connection, run_id)

    def finish_run(self, run_id: int) -> None:
        """Note that a run has scored all rows that there are."""
        with self._database.write() as connection:
            runs.finish(connection, run_id)

    def runs(self) -> tuple[Run, ...]:
        """Return all runs, oldest first."""
        with self._database.read() as connection:
            return runs.list_all(connection)

    def active_run(self, alias: str) -> Run | None:
        """Return the run that is shown under ``alias``."""
        with self._database.read() as connection:
            return runs.active(connection, alias)

    def run_before(self, run: Run) -> Run | None:
        """Return the newest other run under the same alias that has scored anything."""
        with self._database.read() as connection:
            return runs.previous(connection, run)

    def activate(self, run_id: int) -> None:
        """Show a run under its alias. KeyError if there is none of that id."""
        with self._database.write(durable=True) as connection:
            runs.activate(connection, run_id)

    def remove_run(self, run_id: int) -> None:
        """Remove a run and its scores for good."""
        runs.remove(self._database, run_id)

    def whole_table(self) -> bool:
        """Whether what scores is to count in the table's other rows, where they can tell something."""
        with self._database.read() as connection:
            return bool(raw(connection).execute("SELECT whole_table FROM project").fetchone()[0])

    def use_whole_table(self, on: bool) -> None:
        """Let what scores count in the table's other rows, or read each row alone; no step of the history."""
        with self._database.write(durable=True) as connection:
            connection.execute(schema.project.update().values(whole_table=on))

    def model(self) -> KeptModel:
        """Which model the project was last scored with, or is to be."""
        with self._database.read() as connection:
            name, chosen = raw(connection).execute("SELECT model, model_chosen FROM project").fetchone()
        return KeptModel(name or "", bool(chosen))

    def use_model(self, name: str, *, chosen: bool) -> None:
        """Keep which model scores; ``chosen``: by a person. No step of the history."""
        with self._database.write(durable=True) as connection:
            connection.execute(schema.project.update().values(model=name or None, model_chosen=chosen))

    def threshold(self) -> float | None:
        """The probability below which a row's best label is unsure; None: none is."""
        with self._database.read() as connection:
            found: float | None = raw(connection).execute("SELECT threshold FROM project").fetchone()[0]
            return found

    def set_threshold(self, threshold: float | None) -> None:
        """Let rows with a best probability below ``threshold`` (0 to 1) be unsure; no step of the history."""
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(f"a threshold is a probability, not {threshold}")
        with self._database.write(durable=True) as connection:
            connection.execute(schema.project.update().values(threshold=threshold))

    # --- model versions

    def add_version(
        self,
        *,
        name: str,
        base: str,
        base_fingerprint: str,
        data_hash: str,
        train_rows: int,
        held_out_rows: int,
        settings: FinetuneSettings,
        report: TrainingReport,
        seconds: float,
        weights: bytes,
    ) -> ModelVersion:
        """Keep the result of a fine-tune; it is not active yet.

        Args:
            name: As the user calls it; empty: "version" and its number.
            base: Name or folder of the model that was fine-tuned.
            base_fingerprint: Its fingerprint: the weights fit no other model.
            data_hash: Of the rows and answers that it learned from.
            train_rows: How many it learned from.
            held_out_rows: How many it was measured on.
            settings: What it was asked for with.
            report: What it brought, and how it was fitted.
            seconds: How long it took.
            weights: A safetensors blob of what changed.
        """
        with self._database.write(durable=True) as connection:
            return versions.add(
                connection,
                name=name,
                base=base,
                base_fingerprint=base_fingerprint,
                data_hash=data_hash,
                train_rows=train_rows,
                held_out_rows=held_out_rows,
                settings=settings,
                report=report,
                seconds=seconds,
                weights=weights,
            )

    def versions(self) -> tuple[ModelVersion, ...]:
        """Return all model versions, oldest first."""
        with self._database.read() as connection:
            return versions.list_all(connection)

    def version_weights(self, version_id: int) -> bytes:
        """Return the weights of a version as they were given. KeyError if there is none of that id."""
        with self._database.read() as connection:
            return versions.weights(connection, version_id)

    def active_version(self) -> ModelVersion | None:
        """Return the version that scores come from, None if it is a base model."""
        with self._database.read() as connection:
            return versions.active(connection)

    def active_title(self) -> str:
        """Return what runs of the version in use are called; empty if there is none."""
        with self._database.read() as connection:
            return versions.active_title(connection)

    def activate_version(self, version_id: int | None) -> None:
        """Let scores come from a version, or (None) from a base model. KeyError if there is none."""
        with self._database.write(durable=True) as connection:
            before = versions.active(connection)
            versions.activate(connection, version_id)
            if (before and before.id) != version_id:
                now_active = versions.active(connection)
                text = _("Use model “{name}”", name=now_active.name) if now_active else _(history.BASE_MODEL)
                action = history.begin(connection, ChangeKind.VERSION, text)
                history.record_version(connection, action, before.id if before else None)

    def delete_version(self, version_id: int) -> None:
        """Remove a version for good (no undo); if it was active, none is. KeyError if there is none.

        The history does not lead back to it: see `history.forget_version`.
        """
        with self._database.write(durable=True) as connection:
            history.forget_version(connection, version_id)
            versions.delete(connection, version_id)
