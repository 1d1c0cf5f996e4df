"""Use another way of a version to predict: a version of its own, of the same fine-tune."""

from __future__ import annotations

from dataclasses import replace

from sce_desktop.core.errors import UserError
from sce_desktop.core.heads import NAMES, Way
from sce_desktop.core.i18n import _
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.core.versions import ModelVersion
from sce_desktop.store.project import Project


def in_way(project: Project, version: ModelVersion, way: Way) -> ModelVersion:
    """Return the version of the same fine-tune that predicts in ``way``; it is made if there is none yet.

    Nothing is fitted: the version holds what every way takes, and how each fares was measured with it.
    Versions do not change, so that what an export or a run says of one stays true.

    Raises:
        UserError: The version does not hold what ``way`` takes, or it cannot be written.
    """
    head = version.report.head
    if head is not None and head.way is way:
        return version
    found = head.of(way) if head is not None else None
    if head is None or found is None or not found.usable:
        raise UserError(_("{version} cannot predict in this way: fine-tune again.", version=version.name))
    source = head.source or version.number
    for one in project.versions():
        other = one.report.head
        if other is not None and other.way is way and (other.source or one.number) == source:
            return one

    from sce_desktop.ml.finetune.versions import in_other_way

    name = _(NAMES[way])
    report = replace(
        version.report,
        paired=found.paired,
        after=found.figures,
        by_label=found.by_label,
        changed_rows=found.changed_rows,
        since=None,  # that was the other way's
        head=replace(
            head,
            way=way,
            reason=_("{way}, chosen by you in place of what cross-validation chose.", way=name)
            if way is not head.best
            else _("{way}, the choice of cross-validation.", way=name),
            source=source,
        ),
        fit=replace(version.report.fit, encoder_key=head.encoder_key if way is Way.ADAPTED else ""),
    )
    origin = next((one for one in project.versions() if one.number == source), version)
    return project.add_version(
        name=_("{version}, {way}", version=origin.name, way=name),
        base=version.base,
        base_fingerprint=version.base_fingerprint,
        data_hash=version.data_hash,
        train_rows=version.train_rows,
        held_out_rows=version.held_out_rows,
        settings=replace(version.settings or FinetuneSettings(), head=way),
        report=report,
        seconds=version.seconds,
        weights=in_other_way(project.version_weights(version.id), way),
    )
