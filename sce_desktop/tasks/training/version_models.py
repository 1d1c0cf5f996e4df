"""The models of a project's versions: loaded to score with, and written as folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.versions import ModelVersion
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.card import version_card
from sce_desktop.tasks.scoring.models import (
    MAIN_ALIAS,
    Baseline,
    Loaded,
    ModelSource,
    NamedModel,
    load_models,
)
from sce_desktop.tasks.tables.replaceable import check_tuned

if TYPE_CHECKING:
    from sce_desktop.ml.sce.model import SCEModel


def project_models(
    project: Project, source: ModelSource, name: str, baselines: list[Baseline], progress: Progress
) -> Loaded:
    """Load what scores ``project``: the version in use, else the model ``name``, and the ``baselines``.

    Raises:
        UserError: One is missing or damaged, or the version's base is another one by now.
    """
    version = project.active_version()
    loaded = load_models(source, [version.base if version else name], baselines, progress)
    if version is not None:
        model = version_model(project, version, source)
        loaded.models[0] = NamedModel(MAIN_ALIAS, version.title, model)
    return loaded


def version_model(project: Project, version: ModelVersion, source: ModelSource) -> SCEModel:
    """Return the model of ``version``: its base with what was learned put in.

    A label that was renamed since keeps what was learned of it; one that is gone, or whose name another label
    has now, does not.

    Raises:
        UserError: The base is not here or is another one by now, or the version is damaged.
    """
    from sce_desktop.ml.sce.model import SCEModel

    base = source.model(version.base)
    if not isinstance(base, SCEModel) or base.identity != version.base_fingerprint:
        raise UserError(
            _(
                "The installed {base} is not the base model of {version}: fine-tune again, or install its "
                "base model.",
                version=version.name,
                base=version.base,
            )
        )
    return from_base(project, version, base)


def from_base(project: Project, version: ModelVersion, base: SCEModel) -> SCEModel:
    """Return the model of ``version``, where ``base`` is known to be what it was made from."""
    from sce_desktop.ml.finetune.versions import with_changes

    if version.report.problem and not version.report.fit.labels:
        # Without its labels it would score as its base does, under another name.
        raise UserError(
            _("This model version is damaged or was made for another model: use another or fine-tune again.")
        )
    label_set = project.label_set()
    now = {label.id: label.name for label in label_set.labels} if label_set is not None else {}
    names = {name: now[label_id] for name, label_id in version.report.fit.labels.items() if label_id in now}
    return with_changes(base, project.version_weights(version.id), names)


def export_version(project: Project, version: ModelVersion, source: ModelSource, folder: Path) -> None:
    """Write the model of ``version`` as a model folder, for other projects, the command line and Python.

    Raises:
        UserError: As `version_model`, or the folder cannot be written.
    """
    check_tuned(folder, version.base)
    model = version_model(project, version, source)
    model.save_pretrained(folder, card=version_card(version, model))
