"""Model versions of a project: made by fine-tuning on its annotations, used in place of their base."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import Decision, IdArray, Label, ModelVersion, Origin, VectorCache
from sce_desktop.store.project import Project
from sce_desktop.store.query import RowQuery, RowState
from sce_desktop.tasks.finetune import Outcome, outcome
from sce_desktop.tasks.models import ModelSource

if TYPE_CHECKING:
    from sce_desktop.ml.finetune import FineTuned, Settings
    from sce_desktop.ml.model import SCEModel

MOST_CHANGES_KEPT = 1000


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """Rows to learn from; ``gold`` (n,) are places among ``labels``. ``left_out``: other rows, by reason."""

    ids: IdArray
    texts: list[str]
    gold: IdArray
    labels: tuple[Label, ...]
    left_out: dict[str, int]

    @property
    def data_hash(self) -> str:
        """Hash of the texts and their labels, whatever the order of the rows."""
        lines = sorted(
            json.dumps([text, self.labels[place].name], ensure_ascii=False)
            for text, place in zip(self.texts, self.gold.tolist(), strict=True)
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A measured row whose best label is another one after the fine-tune."""

    row_id: int
    before: str
    after: str
    gold: str


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version that was made, and what it was measured by."""

    version: ModelVersion
    outcome: Outcome
    changed: list[ChangedRow]
    tuned: FineTuned


def training_rows(project: Project, origins: Collection[Origin] = tuple(Origin)) -> TrainingRows:
    """Return the rows that were given exactly one label by one of ``origins`` and have a text.

    Raises:
        UserError: The project has no labels, or lets a row have several.
    """
    label_set = project.label_set()
    if label_set is None or not label_set.labels:
        raise UserError("The project has no labels yet: type some, and label rows to learn from.")
    if label_set.multi_label:
        raise UserError("Fine-tuning learns one label a row: it is not there for several labels a row.")
    place_of = {label.id: place for place, label in enumerate(label_set.labels)}
    ids = project.row_ids(RowQuery(state=RowState.LABELLED, blank=False))
    left_out = {"origin": 0, "blank": len(project.row_ids(RowQuery(state=RowState.LABELLED))) - len(ids)}
    used: list[int] = []
    gold: list[int] = []
    for row_id, annotation in project.annotations(ids).items():
        if annotation.origin not in origins:
            left_out["origin"] += 1
        elif annotation.decision is Decision.LABEL and len(annotation.label_ids) == 1:
            used.append(row_id)
            gold.append(place_of[annotation.label_ids[0]])
    chosen = np.array(used, dtype=np.int64)
    return TrainingRows(
        chosen, project.texts(chosen), np.array(gold, dtype=np.int64), label_set.labels, left_out
    )


def finetune_project(
    project: Project,
    base: SCEModel,
    base_name: str,
    *,
    name: str = "",
    origins: Collection[Origin] = tuple(Origin),
    settings: Settings | None = None,
    cache: VectorCache | None = None,
    progress: Progress,
    on_epoch: Callable[[int, float], bool] | None = None,
) -> NewVersion:
    """Fine-tune ``base`` on the project's annotations and keep the result as a version, not active yet.

    It begins at the model as it was before any fine-tune: all annotations are there, old ones too, and none
    counts twice.

    Args:
        project: Whose rows, labels and annotations.
        base: A model without corrections of this project.
        base_name: Its name or folder.
        name: What to call the version; "version N" if empty.
        origins: Which annotations count.
        settings: See `ml.finetune.Settings`.
        cache: Of text vectors.
        progress: As for `ml.finetune.finetune`.
        on_epoch: Likewise.

    Raises:
        UserError: There is too little to learn from, or the version cannot be written.
        Cancelled: The user stopped; nothing was written.
    """
    from sce_desktop.ml.finetune import Settings, finetune
    from sce_desktop.ml.versions import changed_weights

    settings = settings or Settings()
    rows = training_rows(project, origins)
    tuned = finetune(
        base,
        rows.texts,
        rows.gold.tolist(),
        rows.labels,
        settings=settings,
        cache=cache,
        progress=progress,
        on_epoch=on_epoch,
    )
    found = outcome(rows.gold[tuned.measured], tuned.before, tuned.after, tuned.logistic)
    changed = _changed(rows, tuned)
    names = [label.name for label in rows.labels]
    number = max((version.number for version in project.versions()), default=0) + 1
    progress.check()
    version = project.add_version(
        name=name or f"version {number}",
        base=base_name,
        base_fingerprint=base.fingerprint,
        data_hash=rows.data_hash,
        train_rows=len(rows.texts),
        held_out_rows=0 if tuned.cross_validated else len(tuned.measured),
        settings={
            **asdict(settings),
            "recipe": asdict(tuned.recipe),
            "temperature": tuned.temperature,
            "calibrated": tuned.calibrated,
            "stopped": tuned.stopped,
            "origins": [origin.value for origin in origins],
            "label_ids": {label.name: label.id for label in rows.labels},
        },
        seed=settings.seed,
        metrics={
            **found.as_json(names),
            "untested_labels": list(tuned.untested),
            "losses": tuned.losses,
            "changed_rows": [asdict(one) for one in changed[:MOST_CHANGES_KEPT]],
        },
        seconds=tuned.seconds["train"],
        weights=changed_weights(tuned.model),
    )
    return NewVersion(version, found, changed, tuned)


def version_model(project: Project, version: ModelVersion, source: ModelSource) -> SCEModel:
    """Return the model of ``version``: its base with what was learned put in.

    A label that was renamed since keeps what was learned of it; one that is gone, or whose name another label
    has now, does not.

    Raises:
        UserError: The base is not here or is another one by now, or the version is damaged.
    """
    from sce_desktop.ml.model import SCEModel
    from sce_desktop.ml.versions import with_changes

    base = source.model(version.base)
    if not isinstance(base, SCEModel) or base.fingerprint != version.base_fingerprint:
        raise UserError(
            f"{version.name} was made from another model than the {version.base} that is here: "
            "fine-tune again, or install the model that it was made from."
        )
    label_set = project.label_set()
    now = {label.id: label.name for label in label_set.labels} if label_set is not None else {}
    names = {
        name: now[label_id]
        for name, label_id in version.settings.get("label_ids", {}).items()
        if label_id in now
    }
    return with_changes(base, project.version_weights(version.id), names)


def export_version(project: Project, version: ModelVersion, source: ModelSource, folder: Path) -> None:
    """Write the model of ``version`` as a model folder, for other projects, the command line and Python.

    Raises:
        UserError: As `version_model`, or the folder cannot be written.
    """
    version_model(project, version, source).save_pretrained(folder)


def _changed(rows: TrainingRows, tuned: FineTuned) -> list[ChangedRow]:
    before, after = tuned.before.argmax(1), tuned.after.argmax(1)
    names = [label.name for label in rows.labels]
    return [
        ChangedRow(int(rows.ids[place]), names[old], names[new], names[rows.gold[place]])
        for place, old, new in zip(tuned.measured.tolist(), before, after, strict=True)
        if old != new
    ]
