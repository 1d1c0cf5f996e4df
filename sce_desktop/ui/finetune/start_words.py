"""What the left of the Fine-tune panel says of the rows, and of how far a fine-tune is."""

from __future__ import annotations

from collections.abc import Mapping

from sce_desktop.controllers.jobs import Job
from sce_desktop.controllers.tuning_work import Watch
from sce_desktop.controllers.words import step_text
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.tasks.training.sampling import SAMPLED


def stage_words(job: Job, watch: Watch, *, automatic: bool) -> str:
    """What a fine-tune does now; ``automatic``: it was not asked for."""
    if automatic:
        return _("Automatic fine-tuning…")
    if watch.adapted:
        if watch.kept:
            return _("Fine-tuning the text encoder on all rows…")
        return _("Fine-tuning the text encoder, fold {fold}…", fold=number(watch.adapted[-1][0]))
    if watch.kept:
        return _("Training on all rows…")
    if watch.measured:
        return _("Cross-validation: fold {fold} evaluated", fold=number(watch.measured[-1][0]))
    if job.state == "waiting":
        return _("Waiting until the model is free…")
    return step_text(job)


def kept_by_stop(watch: Watch, *, adapts: bool) -> str:
    """What "Stop and keep" keeps, as far as the fine-tune is; ``adapts``: with the text encoder."""
    if watch.adapted and watch.kept:
        return _(
            "“Stop and keep” keeps the text encoder trained so far if it was better, else the standard "
            "fine-tune."
        )
    if adapts or watch.adapted:
        return _("“Stop and keep” keeps the standard fine-tune with the base text encoder.")
    return _("“Stop and keep” skips the rest of the evaluation and keeps a model of all rows.")


def excluded_words(rows: Mapping[str, int]) -> str:
    """Which labelled rows are not trained on, and why; empty if there are none."""
    found = []
    if n := rows["audit"]:
        found.append(
            ngettext("{count} row of an audit sample", "{count} rows of audit samples, with duplicates", n)
        )
    if n := rows.get(SAMPLED, 0):
        found.append(
            ngettext(
                "{count} row beyond the random sample that is learned from, stratified by label",
                "{count} rows beyond the random sample that is learned from, stratified by label",
                n,
            )
        )
    if n := rows["several"]:
        found.append(ngettext("{count} row with several labels", "{count} rows with several labels", n))
    if n := rows["blank"]:
        found.append(ngettext("{count} row without text", "{count} rows without text", n))
    return ", ".join(found)
