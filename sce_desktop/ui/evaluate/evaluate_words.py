"""What the panel Evaluate says: names, sentences, and the rows of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sce_desktop.controllers.label_edits import rows
from sce_desktop.controllers.rows_text import alias_title
from sce_desktop.controllers.scoring import MAIN_ALIAS
from sce_desktop.controllers.words import ACCURACY, ECE, F1, INTERVAL, MACRO_F1, PRECISION, RECALL
from sce_desktop.core.text import exact_share_text, interval_text, share_text
from sce_desktop.tasks.evaluation.evidence import NOT_LOOKED_AT, Source
from sce_desktop.ui.kit.figures_table import Heading, Kind, Value

if TYPE_CHECKING:
    from sce_desktop.tasks.evaluation.audits import AuditState
    from sce_desktop.tasks.evaluation.quality import LeftOut, Part, Quality

SOURCES = {
    Source.GOLD: "Gold labels",
    Source.AUDIT: "Audit sample",
    Source.HAND: "Your labels",
    Source.BULK: "Accepted predictions",
    Source.TOGETHER: "Labelled in bulk",
    Source.IMPORTED: "Imported labels",
}
BLIND = "You decide blindly: what the models are worth is shown again when Blind mode is off."
BLIND_AUDIT = (
    "You decide blindly: what the models are worth is shown when you are through the sample, or leave it."
)
_ALONE = 3  # models beside each other with all their figures of a label; of more F1 alone is shown


def model_name(alias: str) -> str:
    """What a model is called."""
    return "SCE" if alias == MAIN_ALIAS else alias_title(alias)


def basis(quality: Quality, part: Part, *, multi_label: bool) -> str:
    """Say which rows the figures rest on, and what that is worth."""
    kind = "gold" if part.source is Source.GOLD else "decided"
    said = f"On {part.rows:,} of {part.decided:,} {kind} rows"
    left = []
    if part.learned:
        left.append(f"{part.learned:,} that {quality.learned_by} learned from")
    if part.none:
        left.append(f"{part.none:,} with none of these labels")
    if part.unknown:
        left.append(f"{part.unknown:,} whose right answer is no label here")
    if other := part.decided - part.rows - part.none - part.learned - part.unknown:
        left.append(f"{other:,} without a score")
    said += f" (without {', '.join(left)}). " if left else ". "
    if quality.whole_table:
        said += f"{model_name(MAIN_ALIAS)} counts in the table's other rows. "
    if multi_label:
        said += "Of several labels a row, a model is right if it puts one of them first. "
    return said + part.worth


def whose(part: Part) -> str:
    """Say whose labels the models are measured against."""
    return f"Gold: {part.gold}" if part.source is Source.GOLD else "Your label"


def notes(quality: Quality, part: Part) -> str:
    """Say what else the figures leave out, a line each."""
    return "\n".join((*part.notes, *map(_missing, quality.left_out)))


def _missing(model: LeftOut) -> str:
    return (
        f"{model_name(model.alias)} is not measured: it has scored {model.scored:,} of the {model.rows:,} "
        "rows that SCE has."
    )


def nothing_measured(quality: Quality, part: Part) -> str:
    """Say why nothing is measured on the rows of ``part``."""
    if part.source in NOT_LOOKED_AT:
        return f"{SOURCES[part.source]}: {rows(part.decided)}. {part.worth}"
    if part.learned:
        name = quality.learned_by
        others = " The others have no label or no score." if part.learned < part.decided else ""
        kind, more = ("gold", "other") if part.source is Source.GOLD else ("decided", "more")
        return (
            f"{SOURCES[part.source]}: {name} learned from {part.learned:,} of {part.decided:,} {kind} "
            f"rows, which say nothing of how good it is on others.{others} Draw an audit sample, or "
            f"decide {more} rows, to measure it."
        )
    said = "" if part.source is Source.GOLD else " decided"
    return f"{SOURCES[part.source]}: {rows(part.decided)}{said}, but none with both a label and a score."


def audit_progress(state: AuditState) -> str:
    """Say how far the random sample has come."""
    said = f"{state.decided:,} of {len(state.row_ids):,} decided"
    return said + (f", {state.skipped:,} skipped" if state.skipped else "")


def model_rows(part: Part) -> tuple[Sequence[Heading], list[tuple[Value, ...]]]:
    """The models side by side."""
    headings = (
        Heading("Model", Kind.NAME, 0),
        Heading(ACCURACY.name, width=76, tip=ACCURACY.tip),
        Heading(INTERVAL.name, Kind.NAME, 116, INTERVAL.tip),
        Heading(MACRO_F1.name, width=74, tip=MACRO_F1.tip),
        Heading(ECE.name, width=58, tip=ECE.tip),
    )
    found: list[tuple[Value, ...]] = []
    for model in part.models:
        measures = model.measures
        interval = interval_text(measures.accuracy_interval)
        found.append((model_name(model.alias), measures.accuracy, interval, measures.macro_f1, measures.ece))
    return headings, found


def comparisons(part: Part) -> str:
    """Compare the first model with each of the others, in plain words."""
    first = model_name(part.models[0].alias)
    said = []
    for model in part.models:
        if model.behind is not None:
            said.append(f"{first} vs. {model_name(model.alias)}: {model.behind.points}")
    return "\n".join(said)


def calibration(part: Part) -> str:
    """Say how far each model's confidence is from how often it is right."""
    told = (f"{model_name(model.alias)} {exact_share_text(model.measures.ece)}" for model in part.models)
    return f"Expected calibration error: {', '.join(told)}."


def coverage(part: Part, threshold: float) -> str:
    """Say how often the first model is right if it answers all, and if it answers from ``threshold`` up.

    Without a threshold (0) it is the one at which it answers about half of the rows. Rows that no label
    fits are among these and not among those of the accuracy, so the two differ: it is said by what.
    """
    model = part.models[0]
    half = min(model.curve, key=lambda point: abs(point.coverage - 0.5))
    said = []
    for point in (model.curve[0], model.curve[round(100 * threshold)] if threshold > 0 else half):
        if point.precision is not None:
            which = "all rows" if point.threshold == 0 else f"{share_text(point.coverage)} of them"
            sure = "" if point.threshold == 0 else f", those from {share_text(point.threshold)} confidence up"
            said.append(f"answering {which}{sure}, it is right in {exact_share_text(point.precision)}")
    if not said:
        return ""
    told = f"{model_name(model.alias)}: {'; '.join(said)}."
    if unfitting := model.curve[0].rows - part.rows:
        accuracy = exact_share_text(model.measures.accuracy)
        count, are = ("counts", "is") if unfitting == 1 else ("count", "are")
        told += (
            f" Letting it answer gives a label to rows that none fits, too: {rows(unfitting)} decided as "
            f"“none of these” {count} as wrong here, and {are} not in the accuracy of {accuracy}."
        )
    return told


def label_rows(names: Sequence[str], part: Part) -> tuple[tuple[Heading, ...], list[tuple[Value, ...]]]:
    """Every label with its figures by every model.

    Without answers there is no precision, without rows no recall, and without either no F1: macro-F1 is the
    mean of those that are shown.
    """
    several = len(part.models) > 1
    all_figures = len(part.models) <= _ALONE
    headings = [Heading("Label", Kind.NAME, 0), Heading("Rows", Kind.COUNT, 60)]
    for model in part.models:
        above = model_name(model.alias) if several else ""
        if all_figures:
            headings += [
                Heading("Precision", width=86, tip=PRECISION, above=above),
                Heading("Recall", width=76, tip=RECALL, above=above),
            ]
        headings.append(Heading("F1", width=76, tip=F1, above=above))
    found: list[tuple[Value, ...]] = []
    for place, name in enumerate(names):
        values: list[Value] = [name, part.models[0].measures.labels[place].rows]
        for model in part.models:
            one = model.measures.labels[place]
            if all_figures:
                values += [one.precision if one.predicted else None, one.recall if one.rows else None]
            values.append(one.f1 if one.counted else None)
        found.append(tuple(values))
    return tuple(headings), found
