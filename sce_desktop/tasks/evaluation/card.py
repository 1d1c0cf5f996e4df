"""The card of a fine-tuned model: where it comes from, counts and figures, nothing of a row. In English."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sce_desktop import __version__
from sce_desktop.core.figures import Figures
from sce_desktop.core.heads import Way
from sce_desktop.core.text import plural
from sce_desktop.core.training import FinetuneSettings, TrainingReport
from sce_desktop.core.versions import ModelVersion

if TYPE_CHECKING:
    from sce_desktop.ml.sce.model import SCEModel


_HEADS = {
    Way.ZERO_SHOT: "that of the base model",
    Way.SCE: "SCE",
    Way.LOGISTIC: "logistic regression on the text vectors",
    Way.PRODUCT: "product of SCE and logistic regression on the text vectors",
    Way.ADAPTED: "SCE",
}


@dataclass(frozen=True, slots=True)
class Origins:
    """Where a fine-tuned model comes from.

    ``base``: name or folder of the model that was fine-tuned; of a folder only the last name is given.
    ``base_key``: its fingerprint. ``made``: the day, ISO 8601. ``rows``: that it was trained on, with so many
    ``labels``. ``held_out``: validation rows that it was not trained on; 0: it was cross-validated.
    """

    base: str
    base_key: str
    made: str
    rows: int
    labels: int
    held_out: int


def version_card(version: ModelVersion, model: SCEModel) -> str:
    """Return the card of ``model``, which is ``version``."""
    origins = Origins(
        base=version.base,
        base_key=version.base_fingerprint,
        made=version.created_at[:10],
        rows=version.train_rows,
        labels=len(version.report.fit.labels) or len(model.labels or ()),
        held_out=version.held_out_rows,
    )
    return tuned_card(model, origins, version.settings, version.report)


def tuned_card(
    model: SCEModel, origins: Origins, settings: FinetuneSettings | None, report: TrainingReport
) -> str:
    """Return the card of ``model``, the result of a fine-tune, below its title, in Markdown.

    Without ``settings`` (a project may have lost them) those lines are absent.
    """
    base = Path(origins.base).name or origins.base
    embedder = model.config.embedder
    needs = (
        f"Its text embedder, {Path(str(embedder['model'])).name}, is not in this folder and is needed too."
        if "model" in embedder
        else f"The folder is complete: {base} is not needed to use it."
    )
    return "\n".join(
        (
            "## Where it comes from",
            "",
            f"Fine-tuned from {base} (fingerprint {origins.base_key[:12]}) on {origins.made} by SCE Desktop "
            f"{__version__}, on {plural(origins.rows, 'labelled row')} with "
            f"{plural(origins.labels, 'label')}. The labels' names are in `config.json`; nothing of the rows "
            f"is here. {needs}",
            "",
            "## Settings",
            "",
            *(f"- {line}" for line in _settings(settings, report)),
            "",
            "## Result",
            "",
            *_result(report, origins.held_out),
            "",
        )
    )


def _settings(settings: FinetuneSettings | None, report: TrainingReport) -> list[str]:
    lines = []
    if settings is not None:
        lines += [
            f"At most {settings.epochs} epochs",
            f"Learning rate {settings.lr}",
            f"Seed {settings.seed}",
            f"Class-balanced weights: {'yes' if settings.balanced else 'no'}",
        ]
    if recipe := report.fit.recipe:
        lines.append(f"Hyper-parameters: prior strength {recipe.hold:g}, ridge {recipe.ridge:g}")
    adapted = bool(report.fit.encoder_key)
    if report.head is not None:
        lines.append(f"Head: {_HEADS[report.head.way]}")
    lines.append(f"Text encoder: {'LoRA fine-tune of its attention' if adapted else 'unchanged'}")
    return lines


def _result(report: TrainingReport, held_out: int) -> list[str]:
    before, after = report.before, report.after
    if before is None or after is None:
        return [report.sentence]
    how = "validation rows that it was not trained on" if held_out else "cross-validated"
    return [
        f"On {plural(report.measured, 'row')} ({how}):",
        "",
        "| | before | after |",
        "|---|---|---|",
        f"| Accuracy, % (95% CI) | {_accuracy(before)} | {_accuracy(after)} |",
        f"| Macro-F1 | {before.macro_f1:.3f} | {after.macro_f1:.3f} |",
        f"| ECE (adaptive) | {before.ece:.3f} | {after.ece:.3f} |",
        "",
        report.sentence,
    ]


def _accuracy(figures: Figures) -> str:
    low, high = figures.interval
    return f"{100 * figures.accuracy:.1f} ({100 * low:.1f} to {100 * high:.1f})"
