"""Fine-tunes as JSON: how a project keeps them, and the same shapes in what the command line prints.

`core.training` has the types. The keys are those of all earlier programs and stay. In what is read, keys that
are not ours are passed over (and stay in the file: a version is never written again), those that are missing
are as if nothing was known, and what makes no sense is a sentence in `TrainingReport.problem`, so that the
version itself can still be used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from sce_desktop.core.annotations import Origin
from sce_desktop.core.comparison import Difference
from sce_desktop.core.figures import ChangedRow, Figures, LabelChange, PairedCounts
from sce_desktop.core.heads import HeadReport, Way, WayReport
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.training import (
    EncoderReport,
    FinetuneSettings,
    Fit,
    Recipe,
    SinceVersion,
    TrainingReport,
)
from sce_desktop.store.repair.stored import read_json

PROBLEM = N_("The results of this version are damaged and cannot be shown. The version can still be used.")


# --- written -----------------------------------------------------------------------------------------------


def settings_json(settings: FinetuneSettings, fit: Fit) -> dict[str, Any]:
    """Return what a version keeps of its settings, and of how it was fitted, as plain values."""
    return {
        "epochs": settings.epochs,
        "lr": settings.lr,
        "seed": settings.seed,
        "balanced": settings.balanced,
        "adapt_embedder": settings.adapt_embedder,
        **({"head": settings.head.value} if settings.head is not None else {}),
        "recipe": None if fit.recipe is None else asdict(fit.recipe),
        "temperature": fit.temperature,
        "calibrated": fit.calibrated,
        "stopped": fit.stopped,
        "origins": [origin.value for origin in settings.origins],
        "label_ids": dict(fit.labels),
        "expected_seconds": fit.expected_seconds,
        **({"embedder": fit.encoder_key} if fit.encoder_key else {}),
        "row_ids": list(fit.row_ids),
    }


def report_json(report: TrainingReport) -> dict[str, Any]:
    """Return what a version keeps of its results as plain values."""
    since, encoder = report.since, report.encoder
    return {
        **result_json(report),
        "baselines": {alias: _figures(found) for alias, found in report.baselines.items()},
        "since": since
        and {
            "version": since.version,
            "rows": since.paired.rows,
            **_difference(since.paired.difference),
        },
        "left_out": dict(report.left_out),
        "cut_short": report.fit.cut_short,
        "untested_labels": list(report.untested),
        "losses": list(report.fit.losses),
        **({"embedder": encoder_json(encoder)} if encoder is not None else {}),
        **({"head": head_json(report.head, rows=True)} if report.head is not None else {}),
        "changed_rows": [asdict(row) for row in report.changed_rows],
    }


def result_json(report: TrainingReport) -> dict[str, Any]:
    """Return how the models fare before and after as plain values, as every fine-tune gives them."""
    result: dict[str, Any] = {
        "measured": report.measured,
        "difference": _difference(report.difference),
        "before": None,
        "after": None,
    }
    if report.before is None or report.after is None or report.logistic is None:
        return result
    result["before"] = _figures(report.before)
    result["after"] = _figures(report.after)
    result["logistic_regression"] = _figures(report.logistic)
    result["labels_changed"] = _labels_changed(report.by_label)
    return result


def head_json(head: HeadReport, *, rows: bool = False) -> dict[str, Any]:
    """Return the ways in which a version can predict as plain values; ``rows``: with those that change."""
    return {
        "way": head.way.value,
        "reason": head.reason,
        "best": head.best.value,
        "share": head.share,
        "ways": {one.way.value: _way(one, rows=rows) for one in head.ways},
        **({"embedder": head.encoder_key} if head.encoder_key else {}),
        **({"source": head.source} if head.source else {}),
    }


def _way(found: WayReport, *, rows: bool) -> dict[str, Any]:
    return {
        **_figures(found.figures),
        "difference": _difference(found.paired.difference),
        "usable": found.usable,
        "labels_changed": _labels_changed(found.by_label),
        **({"changed_rows": [asdict(row) for row in found.changed_rows]} if rows else {}),
    }


def _labels_changed(found: Sequence[LabelChange]) -> dict[str, Any]:
    return {
        one.label: {"rows": one.rows, "before": {"f1": one.before}, "after": {"f1": one.after}}
        for one in found
    }


def encoder_json(encoder: EncoderReport) -> dict[str, Any]:
    """Return what fine-tuning the text encoder brought as plain values."""
    return {
        "kept": encoder.kept,
        "steps": encoder.steps,
        "sentence": encoder.sentence,
        "seconds": encoder.seconds,
        "fast": None if encoder.standard is None else _figures(encoder.standard),
    }


def _figures(found: Figures) -> dict[str, Any]:
    return {
        "accuracy": found.accuracy,
        "interval": list(found.interval),
        "macro_f1": found.macro_f1,
        "ece": found.ece,
    }


def _difference(found: Difference) -> dict[str, Any]:
    return {
        "mean": found.mean,
        "interval": list(found.interval),
        "won": found.won,
        "lost": found.lost,
        "p_value": found.p_value,
        "sentence": found.sentence,
    }


# --- read --------------------------------------------------------------------------------------------------


def read_version(settings: object, metrics: object) -> tuple[FinetuneSettings | None, TrainingReport]:
    """Return settings (None: not kept) and report of the two JSON texts that a version has in a project."""
    problem = ""
    wanted, fit, report = None, Fit(), TrainingReport()
    try:
        wanted, fit = _read_settings(_mapping(read_json(settings)))
    except ValueError:
        problem = _(PROBLEM)
    try:
        found = _mapping(read_json(metrics))
        report = read_report(found)
        fit = replace(fit, cut_short=report.fit.cut_short, losses=report.fit.losses)
    except ValueError:
        problem = _(PROBLEM)
    return wanted, replace(report, fit=fit, problem=problem)


def read_report(found: Mapping[str, Any]) -> TrainingReport:
    """Return the report of what `report_json` gave. ValueError if it makes no sense."""
    return TrainingReport(
        paired=_paired(found.get("measured", 0), found.get("difference")),
        before=_read_figures(found.get("before")),
        after=_read_figures(found.get("after")),
        logistic=_read_figures(found.get("logistic_regression")),
        by_label=_read_labels(found.get("labels_changed")),
        baselines={
            alias: figures
            for alias, one in _mapping(found.get("baselines")).items()
            if (figures := _read_figures(one)) is not None
        },
        since=_read_since(found.get("since")),
        left_out={_text(reason): _count(n) for reason, n in _mapping(found.get("left_out")).items()},
        untested=tuple(map(_text, _list(found.get("untested_labels")))),
        changed_rows=tuple(map(_read_change, _list(found.get("changed_rows")))),
        encoder=_read_encoder(found.get("embedder")),
        head=_read_head(found.get("head"), found.get("measured", 0)),
        fit=Fit(cut_short=bool(found.get("cut_short")), losses=_numbers(found.get("losses"))),
    )


def _read_settings(found: Mapping[str, Any]) -> tuple[FinetuneSettings | None, Fit]:
    usual, recipe = FinetuneSettings(), found.get("recipe")
    settings = FinetuneSettings(
        epochs=_count(found.get("epochs", usual.epochs)),
        lr=_number(found.get("lr", usual.lr)),
        seed=_count(found.get("seed", usual.seed)),
        balanced=bool(found.get("balanced", usual.balanced)),
        adapt_embedder=bool(found.get("adapt_embedder")),
        origins=tuple(map(Origin, _list(found.get("origins", usual.origins)))),
        head=_read_way(found.get("head")),
    )
    fit = Fit(
        recipe=None
        if recipe is None
        else Recipe(_number(_at(recipe, "hold")), _number(_at(recipe, "ridge"))),
        temperature=_number(found.get("temperature", 1.0)),
        calibrated=bool(found.get("calibrated")),
        stopped=_text(found.get("stopped", "")),
        expected_seconds=_number(found.get("expected_seconds") or 0.0),
        encoder_key=_text(found.get("embedder") or ""),
        labels={name: _count(id_) for name, id_ in _mapping(found.get("label_ids")).items()},
        row_ids=tuple(map(_count, _list(found.get("row_ids")))),
    )
    return settings if "epochs" in found else None, fit


def _read_figures(found: object) -> Figures | None:
    if found is None:
        return None
    low, high = _pair(_at(found, "interval"))
    return Figures(
        _number(_at(found, "accuracy")),
        (low, high),
        _number(_at(found, "macro_f1")),
        _number(_at(found, "ece")),
    )


def _paired(rows: object, found: object) -> PairedCounts:
    """Return the counts of which a difference is made: what older programs claimed of it is not repeated."""
    if found is None:
        return PairedCounts()
    counts = PairedCounts(_count(rows), _count(_at(found, "won")), _count(_at(found, "lost")))
    if counts.won + counts.lost > counts.rows:
        raise ValueError("more changes than rows")
    return counts


def _read_since(found: object) -> SinceVersion | None:
    if found is None:
        return None
    return SinceVersion(_count(_at(found, "version")), _paired(_at(found, "rows"), found))


def _read_change(found: object) -> ChangedRow:
    names = (_text(_at(found, key)) for key in ("before", "after", "gold"))
    return ChangedRow(_count(_at(found, "row_id")), *names)


def _read_encoder(found: object) -> EncoderReport | None:
    if found is None:
        return None
    return EncoderReport(
        kept=bool(_at(found, "kept")),
        sentence=_text(_at(found, "sentence")),
        steps=_count(_mapping(found).get("steps", 0)),
        seconds=_number(_mapping(found).get("seconds", 0.0)),
        standard=_read_figures(_mapping(found).get("fast")),
    )


def _read_labels(found: object) -> tuple[LabelChange, ...]:
    return tuple(
        LabelChange(
            name,
            _count(_mapping(one).get("rows")),
            _f1(one.get("before")),
            _f1(one.get("after")),
        )
        for name, one in _mapping(found).items()
    )


def _read_way(found: object) -> Way | None:
    """Return a way to predict; None for "auto", and for one that only a newer program knows."""
    return Way(found) if isinstance(found, str) and found in tuple(Way) else None


def _read_head(found: object, rows: object) -> HeadReport | None:
    if found is None:
        return None
    about = _mapping(found)
    way = _read_way(_at(found, "way"))
    if way is None:
        return None
    return HeadReport(
        way=way,
        reason=_text(about.get("reason", "")),
        best=_read_way(about.get("best")) or way,
        share=_number(about.get("share", 0.0)),
        ways=tuple(
            WayReport(
                one_way,
                figures,
                _paired(rows, _at(one, "difference")),
                _read_labels(one.get("labels_changed")),
                tuple(map(_read_change, _list(one.get("changed_rows")))),
                bool(one.get("usable", True)),
            )
            for name, one in _mapping(about.get("ways")).items()
            if (one_way := _read_way(name)) is not None and (figures := _read_figures(one)) is not None
        ),
        encoder_key=_text(about.get("embedder", "")),
        source=_count(about.get("source", 0)),
    )


def _f1(found: object) -> float | None:
    value = _at(found, "f1")
    return None if value is None else _number(value)


def _at(found: object, key: str) -> Any:
    mapping = _mapping(found)
    if key not in mapping:
        raise ValueError(key)
    return mapping[key]


def _mapping(found: object) -> Mapping[str, Any]:
    return _known(found or {}, lambda value: isinstance(value, Mapping))


def _list(found: object) -> Any:
    return _known(found or (), lambda value: isinstance(value, list | tuple))


def _text(found: object) -> str:
    return _known(found, lambda value: isinstance(value, str))


def _count(found: object) -> int:
    return _known(found, lambda value: type(value) is int and value >= 0)


def _number(found: object) -> float:
    try:
        return float(_known(found, lambda value: type(value) in (int, float) and math.isfinite(value)))
    except OverflowError:
        raise ValueError("too large") from None


def _numbers(found: object) -> tuple[float, ...]:
    return tuple(map(_number, _list(found)))


def _pair(found: object) -> tuple[float, float]:
    low, high = _numbers(found)  # ValueError too, if it is not two
    return low, high


def _known(found: Any, is_right: Callable[[Any], bool]) -> Any:
    if not is_right(found):
        raise ValueError("an unexpected value")
    return found
