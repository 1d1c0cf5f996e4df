"""The words of the panel Evaluate: names, sentences, and the rows of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sce_desktop.controllers.rows_text import alias_title
from sce_desktop.controllers.words import ACCURACY, F1, INTERVAL, MACRO_F1, PRECISION, RECALL
from sce_desktop.core.i18n import _, ngettext, number, percent
from sce_desktop.core.text import interval_text, share_text
from sce_desktop.tasks.evaluation.evidence import NOT_LOOKED_AT, Source
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.ui.kit.figures_table import Heading, Kind, Value

if TYPE_CHECKING:
    from sce_desktop.tasks.evaluation.audits import AuditState
    from sce_desktop.tasks.evaluation.quality import LeftOut, Part, Quality

SOURCES = {
    Source.GOLD: _("Gold labels"),
    Source.AUDIT: _("Audit sample"),
    Source.HAND: _("Your labels"),
    Source.BULK: _("Accepted predictions"),
    Source.TOGETHER: _("Labelled in bulk"),
    Source.IMPORTED: _("Imported labels"),
}
BLIND = _("Model results are hidden in blind mode. Turn it off in the View menu (Ctrl+B).")
BLIND_AUDIT = _("Model results are hidden in blind mode. They appear when you finish or leave the sample.")
NO_LABELS = _("No labels yet: add labels, then press Score.")
SCORING = _("The rows are being scored. Results follow when scoring ends.")
NOT_SCORED = _("Nothing is scored yet: press Score, then label some rows to evaluate the models.")
EVALUATING = _("Evaluating…")
NOT_LABELLED = _(
    "Nothing is labelled yet. Draw an audit sample and label its rows: a few hundred show how good the "
    "models are on all rows."
)
LATE = _("Updating after your last changes.")
ECE_NAME = _("ECE")
ECE_TIP = _("Calibration error (ECE), adaptive: 15 bins of equally many rows. 0 is best.")
_EXACT_FROM = 100  # rows: of fewer a decimal would claim more than they show


def model_name(alias: str) -> str:
    """Return the name of a model."""
    return "SCE" if alias == MAIN_ALIAS else alias_title(alias)


def digits(part: Part) -> int:
    """Return how many decimals the percentages of ``part`` have."""
    return 1 if part.rows >= _EXACT_FROM else 0


def result(part: Part) -> str:
    """Return what matters most: the accuracy of the first model, beside that of the next."""
    first, exact = part.models[0], digits(part)
    shown = _(
        "{model} {accuracy} ({interval})",
        model=model_name(first.alias),
        accuracy=percent(first.measures.accuracy, exact),
        interval=interval_text(first.measures.accuracy_interval, exact),
    )
    if len(part.models) < 2:
        return shown
    other = part.models[1]
    return _(
        "{result} vs. {model} {accuracy}",
        result=shown,
        model=model_name(other.alias),
        accuracy=percent(other.measures.accuracy, exact),
    )


def basis(part: Part) -> str:
    """Return which rows the figures are from: their number and one clause."""
    rows = number(part.rows)
    if part.source is Source.GOLD:
        return ngettext(
            "{rows} of {count} row with a gold label.",
            "{rows} of {count} rows with gold labels.",
            part.decided,
            rows=rows,
        )
    if part.source is Source.AUDIT:
        return ngettext(
            "{rows} of {count} labelled row of a random sample.",
            "{rows} of {count} labelled rows of a random sample.",
            part.decided,
            rows=rows,
        )
    return ngettext(
        "{rows} of {count} labelled row, not a random sample.",
        "{rows} of {count} labelled rows, not a random sample.",
        part.decided,
        rows=rows,
    )


def caveats(quality: Quality, part: Part, *, multi_label: bool) -> str:
    """Return what the figures apply to and which rows they exclude, a sentence a line."""
    lines = [part.validity] if part.validity else []
    if part.learned:
        lines.append(
            ngettext(
                "Excluded: {count} row that {version} was trained on.",
                "Excluded: {count} rows that {version} was trained on.",
                part.learned,
                version=quality.learned_by,
            )
        )
    if part.none:
        lines.append(
            ngettext(
                "Excluded from accuracy: {count} row labelled “None of these”.",
                "Excluded from accuracy: {count} rows labelled “None of these”.",
                part.none,
            )
        )
    if part.unknown:
        lines.append(
            ngettext(
                "Excluded: {count} row whose gold label is not in your labels.",
                "Excluded: {count} rows whose gold labels are not in your labels.",
                part.unknown,
            )
        )
    if other := part.decided - part.rows - part.none - part.learned - part.unknown:
        lines.append(
            ngettext(
                "Excluded: {count} row without a score.", "Excluded: {count} rows without scores.", other
            )
        )
    if quality.whole_table:
        lines.append(_("{model} predicts rows jointly (transductive).", model=model_name(MAIN_ALIAS)))
    if multi_label:
        lines.append(_("Multi-label: a prediction is correct if it is one of the row's labels."))
    return "\n".join((*lines, *part.notes, *(line for line in (unfitting(part),) if line)))


def unfitting(part: Part) -> str:
    """Say that coverage counts rows that no label fits as wrong; empty if there are none."""
    if not part.models or not (count := part.models[0].curve[0].rows - part.rows):
        return ""
    return ngettext(
        "Coverage counts {count} row labelled “None of these” as wrong.",
        "Coverage counts {count} rows labelled “None of these” as wrong.",
        count,
    )


def whose(part: Part) -> str:
    """Return whose labels the models are compared with."""
    return _("Gold: {source}", source=part.gold) if part.source is Source.GOLD else _("Your label")


def missing(quality: Quality) -> str:
    """Return which models are not evaluated, a line each."""
    return "\n".join(map(_missing, quality.left_out))


def _missing(model: LeftOut) -> str:
    return _(
        "{model} is not evaluated: only {scored} of {rows} rows are scored.",
        model=model_name(model.alias),
        scored=number(model.scored),
        rows=number(model.rows),
    )


def nothing_measured(quality: Quality, part: Part) -> str:
    """Say why nothing is evaluated on the rows of ``part``."""
    named = _(
        "{source}: {rows}.",
        source=SOURCES[part.source],
        rows=ngettext("{count} row", "{count} rows", part.decided),
    )
    if part.source in NOT_LOOKED_AT:
        return f"{named} {part.validity}"
    if not part.learned:
        return " ".join((named, _("None has both a label and a score. Press Score, or label scored rows.")))
    trained = ngettext(
        "{version} was trained on {count} of them, so they cannot evaluate it.",
        "{version} was trained on {count} of them, so they cannot evaluate it.",
        part.learned,
        version=quality.learned_by,
    )
    others = _("The others have no label or no score.") if part.learned < part.decided else ""
    action = _("Draw an audit sample, or label other rows.")
    return " ".join(filter(None, (named, trained, others, action)))


def audit_progress(state: AuditState) -> str:
    """Return the progress of the audit sample: "12 of 163 labelled"."""
    done = _("{labelled} of {rows} labelled", labelled=number(state.decided), rows=number(len(state.row_ids)))
    if not state.skipped:
        return done
    return _("{done}, {skipped} skipped", done=done, skipped=number(state.skipped))


def model_rows(part: Part) -> tuple[Sequence[Heading], list[tuple[Value, ...]]]:
    """Return headings and cells of the models side by side."""
    exact = digits(part)
    headings = (
        Heading(_("Model"), Kind.NAME, 0),
        Heading(ACCURACY.name, width=76, tip=ACCURACY.tip, digits=exact),
        Heading(INTERVAL.name, Kind.NAME, 116, INTERVAL.tip),
        Heading(MACRO_F1.name, width=74, tip=MACRO_F1.tip, digits=exact),
        Heading(ECE_NAME, width=58, tip=f"{ECE_TIP}\n{calibration(part)}", digits=exact),
    )
    found: list[tuple[Value, ...]] = []
    for model in part.models:
        measures = model.measures
        interval = interval_text(measures.accuracy_interval, exact)
        found.append((model_name(model.alias), measures.accuracy, interval, measures.macro_f1, measures.ece))
    return headings, found


def comparisons(part: Part) -> str:
    """Compare the first model with each of the others, a line each."""
    return "\n".join(
        _(
            "{first} vs. {other}: {points}",
            first=model_name(part.models[0].alias),
            other=model_name(model.alias),
            points=model.behind.points,
        )
        for model in part.models
        if model.behind is not None
    )


def calibration(part: Part) -> str:
    """Return each model's calibration error, over bins of equally many rows and of equal width."""
    exact = digits(part)
    return "\n".join(
        _(
            "{model} calibration error (ECE): {adaptive} (adaptive), {width} (equal-width bins)",
            model=model_name(model.alias),
            adaptive=percent(model.measures.ece, exact),
            width=percent(model.width_ece, exact),
        )
        for model in part.models
    )


def coverage(part: Part, threshold: float) -> str:
    """Return how often the first model is correct: on all rows, and from ``threshold`` up; a line each.

    Without a threshold (0) it is the one that covers about half of the rows. Rows that no label fits are
    counted here and not in the accuracy, so that the two may differ (`unfitting`).
    """
    model, exact = part.models[0], digits(part)
    half = min(model.curve, key=lambda point: abs(point.coverage - 0.5))
    lines = []
    for point in (model.curve[0], model.curve[round(100 * threshold)] if threshold > 0 else half):
        if point.precision is None:
            continue
        correct = percent(point.precision, exact)
        if point.threshold == 0:
            lines.append(_("{coverage} coverage: {correct} correct", coverage=percent(1), correct=correct))
        else:
            lines.append(
                _(
                    "{coverage} coverage (confidence ≥ {threshold}): {correct} correct",
                    coverage=share_text(point.coverage),
                    threshold=share_text(point.threshold),
                    correct=correct,
                )
            )
    return "\n".join(dict.fromkeys(lines))


def label_rows(
    names: Sequence[str], part: Part, *, details: bool = False
) -> tuple[tuple[Heading, ...], list[tuple[Value, ...]]]:
    """Return headings and cells of every label: its F1 by every model, with ``details`` precision and recall.

    Without predictions there is no precision, without rows no recall, and without either no F1: macro-F1 is
    the mean of those that are shown.
    """
    several, exact = len(part.models) > 1, digits(part)
    headings = [Heading(_("Label"), Kind.NAME, 0), Heading(_("Rows"), Kind.COUNT, 60)]
    for model in part.models:
        above = model_name(model.alias) if several else ""
        if details:
            headings += [
                Heading(_("Precision"), width=86, tip=PRECISION, above=above, digits=exact),
                Heading(_("Recall"), width=76, tip=RECALL, above=above, digits=exact),
            ]
        headings.append(Heading(_("F1"), width=76, tip=F1, above=above, digits=exact))
    found: list[tuple[Value, ...]] = []
    for place, name in enumerate(names):
        values: list[Value] = [name, part.models[0].measures.labels[place].rows]
        for model in part.models:
            one = model.measures.labels[place]
            if details:
                values += [one.precision if one.predicted else None, one.recall if one.rows else None]
            values.append(one.f1 if one.counted else None)
        found.append(tuple(values))
    return tuple(headings), found
