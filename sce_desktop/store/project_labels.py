"""The face of a project, as far as labels go."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sce_desktop.core.annotations import Label, LabelEffect, LabelSet, SwitchEffect
from sce_desktop.core.query import RowState
from sce_desktop.store.annotations import decisions, label_edits, label_sets
from sce_desktop.store.file.database import Database
from sce_desktop.store.runs import runs
from sce_desktop.store.runs.scored import ScoredRuns
from sce_desktop.store.sql import Ids


class LabelMethods:
    """A part of `Project`."""

    _database: Database
    _scored: ScoredRuns

    def label_set(self) -> LabelSet | None:
        """Return the label set in use, None before the first."""
        with self._database.read() as connection:
            return label_sets.active_set(connection)

    def label_sets(self) -> tuple[LabelSet, ...]:
        """Return every version of every label set, oldest first."""
        with self._database.read() as connection:
            return label_sets.all_sets(connection)

    def set_labels(
        self, labels: Sequence[Label], *, name: str | None = None, multi_label: bool | None = None
    ) -> LabelSet:
        """Use these labels from now on and return them with their ids.

        It makes a new version of the label set, unless the latest version says the same. A label keeps its id
        if it carries one, else it takes that of the known label of the same name. Annotations of a label
        that is left out stay and come back with it; until then their rows are unlabelled.

        Args:
            labels: In the order that probabilities and lists shall have; may be empty.
            name: Of the label set; the one in use if None.
            multi_label: Whether a row may have several; as it was if None.

        Raises:
            UserError: Two labels have the same name, or one has none; or rows have several of them, where a
                row is to have one.
        """
        with self._database.write(durable=True) as connection:
            return label_edits.set_labels(connection, labels, name=name, multi_label=multi_label)

    def use_label_set(self, label_set_id: int) -> LabelSet:
        """Use another of `label_sets` from now on. Where label ids are the same, annotations stay.

        KeyError if there is none of that id. UserError where rows have several labels of a set in which a row
        has one.
        """
        with self._database.write(durable=True) as connection:
            return label_edits.use_label_set(connection, label_set_id)

    def use_preview(self, label_set_id: int) -> SwitchEffect:
        """Count what `use_label_set` would do to rows. KeyError if there is none of that id."""
        with self._database.read() as connection:
            return label_edits.use_effect(connection, label_set_id)

    def merge_labels(self, from_ids: Collection[int], into_id: int, *, synonyms: bool = True) -> LabelSet:
        """Let a label take over others; their annotations move, with time and origin, and the others go.

        ``synonyms``: their wordings become synonyms of the label. ValueError if one is not in use.
        """
        with self._database.write(durable=True) as connection:
            return label_edits.merge(connection, from_ids, into_id, synonyms=synonyms)

    def delete_label(self, label_id: int, *, move_to: int | None = None) -> LabelSet:
        """Take a label out; its annotations move to ``move_to``, or their rows count as unlabelled.

        ValueError if a label is not in use, or the two are the same.
        """
        with self._database.write(durable=True) as connection:
            return label_edits.delete(connection, label_id, move_to=move_to)

    def split_label(self, label_id: int, parts: Sequence[Label]) -> LabelSet:
        """Put ``parts`` in the place of a label.

        Its rows count as unlabelled and wait in the queue ``RowQuery(former_ids=(label_id,))`` until they are
        decided again; `former_labels` tells what they were.

        Raises:
            UserError: A part has the name of the label itself, or of another one.
            ValueError: The label is not in use.
        """
        with self._database.write(durable=True) as connection:
            return label_edits.split(connection, label_id, parts)

    def former_labels(self, ids: Ids) -> dict[int, tuple[str, ...]]:
        """Return the names of the labels out of use that ``ids`` still bear, by row; others are absent."""
        with self._database.read() as connection:
            return decisions.former_labels(connection, ids)

    def rename_preview(self, label_id: int) -> LabelEffect:
        """Count what renaming a label touches. ValueError if it is not in use; so for the others."""
        return self._effect([label_id])

    def delete_preview(self, label_id: int, *, move_to: int | None = None) -> LabelEffect:
        """Count what deleting a label touches; ``overlap`` are rows that keep a label."""
        return self._effect([label_id], move_to)

    def split_preview(self, label_id: int) -> LabelEffect:
        """Count what splitting a label touches; ``overlap`` are rows that keep a label."""
        return self._effect([label_id])

    def merge_preview(self, from_ids: Collection[int], into_id: int) -> LabelEffect:
        """Count what merging labels touches; ``overlap`` are rows that have ``into_id`` already."""
        return self._effect(set(from_ids) - {into_id}, into_id)

    def _effect(self, label_ids: Collection[int], into_id: int | None = None) -> LabelEffect:
        with self._database.read() as connection:
            return label_edits.effect(connection, label_ids, into_id)

    def annotation_counts(self) -> dict[int, int]:
        """Return the number of rows annotated with each label in use, by label id."""
        with self._database.read() as connection:
            return decisions.label_counts(connection)

    def state_counts(self) -> dict[RowState, int]:
        """Return the number of rows in each state; blank rows count as unlabelled."""
        with self._database.read() as connection:
            return decisions.state_counts(connection)

    def predicted_counts(self, run_id: int) -> dict[int, int]:
        """Return the number of rows for which a run puts each of its labels first, by label id."""
        with self._database.read() as connection:
            return runs.predicted_counts(connection, run_id, self._scored)
