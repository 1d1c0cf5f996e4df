"""The card of a fine-tuned model: where it comes from, counts and figures, nothing of a row. In English."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop import __version__
from sce_desktop.core.comparison import recorded
from sce_desktop.core.runs import ModelVersion
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.ml.sce.model import SCEModel

_FIGURES = (("Accuracy, % (95% CI)", "accuracy"), ("Macro-F1", "macro_f1"), ("ECE (adaptive)", "ece"))


def version_card(version: ModelVersion, model: SCEModel) -> str:
    """Return the card of ``model``, which is ``version``."""
    return tuned_card(
        model,
        base=version.base,
        base_key=version.base_fingerprint,
        made=version.created_at[:10],
        rows=version.train_rows,
        labels=len(version.settings.get("label_ids", ())) or len(model.labels or ()),
        held_out=version.held_out_rows,
        settings=version.settings,
        found=version.metrics,
    )


def tuned_card(
    model: SCEModel,
    *,
    base: str,
    base_key: str,
    made: str,
    rows: int,
    labels: int,
    held_out: int,
    settings: Mapping[str, Any],
    found: Mapping[str, Any],
) -> str:
    """Return the card of ``model`` below its title, in Markdown.

    Args:
        model: The result.
        base: Name or folder of the model that was fine-tuned; of a folder only the last name is given.
        base_key: The base's fingerprint.
        made: The day, ISO 8601.
        rows: That it was trained on.
        labels: That the rows have.
        held_out: Validation rows that it was not trained on; 0: it was cross-validated.
        settings: As a `ModelVersion` keeps them; what is absent is not shown.
        found: As `Outcome.as_json` gives it.
    """
    base = Path(base).name or base
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
            f"Fine-tuned from {base} (fingerprint {base_key[:12]}) on {made} by SCE Desktop {__version__}, "
            f"on {plural(rows, 'labelled row')} with {plural(labels, 'label')}. The labels' names are in "
            f"`config.json`; nothing of the rows is here. {needs}",
            "",
            "## Settings",
            "",
            *(f"- {line}" for line in _settings(settings)),
            "",
            "## Result",
            "",
            *_result(found, held_out),
            "",
        )
    )


def _settings(settings: Mapping[str, Any]) -> list[str]:
    known = [
        ("epochs", "At most {} epochs"),
        ("lr", "Learning rate {}"),
        ("seed", "Seed {}"),
    ]
    lines = [words.format(settings[name]) for name, words in known if name in settings]
    if "balanced" in settings:
        lines.append(f"Class-balanced weights: {'yes' if settings['balanced'] else 'no'}")
    if recipe := settings.get("recipe"):
        lines.append(f"Hyper-parameters: prior strength {recipe['hold']:g}, ridge {recipe['ridge']:g}")
    adapted = "embedder" in settings
    lines.append(f"Text encoder: {'LoRA fine-tune of its attention' if adapted else 'unchanged'}")
    return lines


def _result(found: Mapping[str, Any], held_out: int) -> list[str]:
    sentence = recorded(found["measured"], found["difference"]).sentence
    before, after = found["before"], found["after"]
    if before is None or after is None:
        return [sentence]
    how = "validation rows that it was not trained on" if held_out else "cross-validated"
    return [
        f"On {plural(found['measured'], 'row')} ({how}):",
        "",
        "| | before | after |",
        "|---|---|---|",
        *(f"| {name} | {_figure(before, key)} | {_figure(after, key)} |" for name, key in _FIGURES),
        "",
        sentence,
    ]


def _figure(measures: Mapping[str, Any], key: str) -> str:
    if key != "accuracy":
        return f"{measures[key]:.3f}"
    low, high = measures["interval"]
    return f"{100 * measures[key]:.1f} ({100 * low:.1f} to {100 * high:.1f})"
