"""``project finetune``: a model version from the labels of a project."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sce_desktop.commands import console, model_options, options, project_file
from sce_desktop.core.escapes import shown
from sce_desktop.core.heads import NAMES
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.core.versions import ModelVersion


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be chosen."""
    options.add_head(parser)
    options.add_seed(parser)
    options.add_all_rows(parser)
    parser.add_argument("--name", default="", help="name of the version (default: version and its number)")
    parser.add_argument("--use", action="store_true", help="score with the version from now on")
    model_options.add_models(parser)


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Make a version of the base model; the one in use stays unless ``--use`` is given."""
    from sce_desktop.core.training import FinetuneSettings
    from sce_desktop.store.runs.training_json import head_json, result_json
    from sce_desktop.tasks.scoring.models import DEFAULT_MODEL
    from sce_desktop.tasks.training.versions import base_model, finetune_project

    with project_file.open_project(args.project) as project:
        source, _, cache = model_options.open_models(args)
        used = project.active_version()
        name = args.model or (used.base if used else project.model().name) or DEFAULT_MODEL
        base = base_model(source, name)
        with console.if_stopped("No version was made."):
            made = finetune_project(
                project,
                base,
                name,
                name=args.name,
                settings=FinetuneSettings(seed=args.seed, head=options.head_of(args), all_rows=args.all_rows),
                cache=cache,
                progress=progress,
            )
        if args.use:
            project.activate_version(made.version.id)
    version = made.version
    if args.json:
        report = version.report
        console.print_json(
            {
                "number": version.number,
                "name": version.name,
                "base": version.base,
                "train_rows": version.train_rows,
                "held_out_rows": version.held_out_rows,
                "excluded": dict(report.left_out),
                "active": args.use,
                **result_json(report),
                **({"head": head_json(report.head)} if report.head is not None else {}),
                "warnings": console.warnings(progress),
            }
        )
    else:
        print("\n".join(_lines(version, used=args.use)))
    return 0


def _lines(version: ModelVersion, *, used: bool) -> list[str]:
    report = version.report
    lines = [
        f"{shown(version.name)} of {shown(version.base)}: fine-tuned on {plural(version.train_rows, 'row')}"
        + (", in use" if used else ""),
    ]
    if not_used := report.left_out.get("sampled"):
        lines.append(f"Not learned from: {plural(not_used, 'row')} beyond the stratified random sample.")
    lines.append(report.sentence)
    if report.head is not None:
        for one in report.head.ways:
            low, high = one.figures.interval
            lines.append(f"{NAMES[one.way]:23} {one.figures.accuracy:6.1%} ({low:.1%} to {high:.1%})")
        lines.append(report.head.reason)
    return lines
