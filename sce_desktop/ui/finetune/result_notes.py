"""What is to be known about the validation of a version, in sentences below its figures."""

from __future__ import annotations

from sce_desktop.controllers.label_edits import quoted
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.versions import ModelVersion
from sce_desktop.tasks.training.sampling import SAMPLED


def notes_about(version: ModelVersion) -> list[str]:
    """Return the sentences, in the order of how much they matter."""
    report, fit = version.report, version.report.fit
    notes = []
    sampled = report.left_out.get(SAMPLED, 0)
    if report.measured and sampled:
        notes.append(
            ngettext(
                "Validated on {count} held-out row.", "Validated on {count} held-out rows.", report.measured
            )
        )
    elif report.measured:
        notes.append(
            ngettext(
                "Validated on {count} held-out row. The version is trained on all rows.",
                "Validated on {count} held-out rows. The version is trained on all rows.",
                report.measured,
            )
            if version.held_out_rows
            else ngettext(
                "Cross-validated on {count} row. The version is trained on all rows.",
                "Cross-validated on {count} rows. The version is trained on all rows.",
                report.measured,
            )
        )
    if report.head is not None and report.head.reason:
        notes.append(report.head.reason)
    if report.encoder is not None:
        notes.append(report.encoder.sentence)
    if sampled:
        notes.append(
            ngettext(
                "Trained on a random sample, stratified by label; {count} labelled row was not used.",
                "Trained on a random sample, stratified by label; {count} labelled rows were not used.",
                sampled,
            )
        )
    if fit.cut_short:
        notes.append(_("Stopped before the validation was complete."))
    if not fit.calibrated:
        notes.append(_("Probabilities are not calibrated yet: that needs 50 validation rows."))
    if report.untested:
        notes.append(_("Too few examples to validate: {labels}.", labels=quoted(report.untested)))
    since = report.since
    if since is not None and since.paired.rows:
        notes.append(
            _(
                "Against version {number}, on rows new to both: {difference}.",
                number=since.version,
                difference=since.paired.difference.points,
            )
        )
    if fit.stopped == "non-finite":
        notes.append(_("Training diverged (non-finite values). Lower the learning rate."))
    return notes
