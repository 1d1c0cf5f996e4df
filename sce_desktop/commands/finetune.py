"""``finetune``: a table with gold labels in, a model fine-tuned on them out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sce_desktop.commands import console, finetune_llm, model_options, number_types, options
from sce_desktop.commands.finetune_llm import untested_line
from sce_desktop.core.errors import UserError
from sce_desktop.core.escapes import shown
from sce_desktop.core.heads import NAMES, Way
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.core.training import FinetuneSettings
    from sce_desktop.tasks.training.finetune import FineTuneReport


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    parser = options.add_parser(commands, "finetune", "fine-tune a model on labelled rows")
    parser.add_argument("table", type=Path, metavar="TABLE", help="CSV, TSV, XLSX, Parquet or JSON Lines")
    options.add_text(parser)
    parser.add_argument("--gold", required=True, metavar="COLUMN", help="header of the column of gold labels")
    options.add_lists(parser)
    options.add_merge(parser)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="MODEL_DIR", help="folder of the new model"
    )
    options.add_force(parser, "a model folder")
    options.add_labels(parser)
    parser.add_argument(
        "--epochs",
        type=number_types.whole_number(1),
        metavar="N",
        help="maximum number of passes over the rows (default: 100; with an LLM: 1)",
    )
    parser.add_argument(
        "--lr",
        type=number_types.above_zero,
        metavar="X",
        help="step-size multiplier; 1 is always stable, values above 2 may diverge (default: 1); with an "
        "LLM: the learning rate (default: 2e-4)",
    )
    options.add_seed(parser)
    options.add_all_rows(parser)
    parser.add_argument(
        "--adapt-embedder",
        action="store_true",
        help="also fine-tune the text encoder (LoRA, takes minutes, estimated before the start); kept only "
        "if it is at least as accurate on validation rows and gives their labels a higher probability",
    )
    options.add_head(parser)
    model_options.add_models(parser)
    finetune_llm.add_options(parser)
    options.add_table(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Fine-tune on the table, write the model and say how much it gained."""
    if finetune_llm.is_llm(args.model):
        if args.adapt_embedder:
            raise UserError("A language model has no text encoder: remove --adapt-embedder.")
        if args.head != "auto":
            raise UserError("A language model has no heads to choose among: remove --head.")
        return finetune_llm.run(args, progress)
    labels = options.given_labels(args, progress)
    table_options = options.table_options(args)

    from sce_desktop.tasks.training.finetune import finetune_table

    source, _, cache = model_options.open_models(args)
    with console.if_stopped("Nothing was written."):
        choice = model_options.choose_model(args, labels, table_options, progress, label_column=args.gold)
        report = finetune_table(
            options.gold_source(args, labels, table_options),
            args.output,
            _settings(args),
            source=source,
            model=choice.model if choice else args.model,
            force=args.force,
            cache=cache,
            progress=progress,
        )
    if args.json:
        console.print_json(
            {**report.as_json(), **model_options.choice_facts(choice), "warnings": console.warnings(progress)}
        )
    else:
        print("\n".join(_lines(report)))
    return 0


def _settings(args: argparse.Namespace) -> FinetuneSettings:
    from sce_desktop.core.training import FinetuneSettings

    usual = FinetuneSettings()
    return FinetuneSettings(
        epochs=usual.epochs if args.epochs is None else args.epochs,
        lr=usual.lr if args.lr is None else args.lr,
        seed=args.seed,
        adapt_embedder=args.adapt_embedder,
        head=options.head_of(args),
        all_rows=args.all_rows,
    )


def _lines(report: FineTuneReport) -> list[str]:
    found = report.result
    how = "cross-validated" if report.cross_validated else "held out for validation"
    lines = [
        f"Fine-tuned on {plural(report.train_rows, 'row')} with {plural(len(report.labels), 'label')} "
        f"in {report.seconds['train']:.1f} s: {shown(report.model)}"
    ]
    if found.before is not None and found.after is not None and found.logistic is not None:
        lines.append(f"On {plural(found.measured, 'row')}, {how}:")
        others = [("logistic regression", found.logistic)]
        if found.head is not None:
            others = [
                (NAMES[one.way], one.figures) for one in found.head.ways if one.way is not Way.ZERO_SHOT
            ]
        for name, one in (("before", found.before), ("after", found.after), *others):
            low, high = one.interval
            lines.append(
                f"{name:23} {one.accuracy:6.1%} ({low:.1%} to {high:.1%})  macro-F1 {one.macro_f1:.1%}  "
                f"ECE {one.ece:.3f}"
            )
    if not_used := report.skipped.get("sampled"):
        lines.append(f"Not learned from: {plural(not_used, 'row')} beyond the stratified random sample.")
    lines.append(found.difference.sentence)
    if found.head is not None:
        lines.append(found.head.reason)
    lines += untested_line(found.untested)
    if found.encoder is not None:
        lines.append(found.encoder.sentence)
    if not found.fit.calibrated:
        lines.append("Probabilities are not calibrated yet: this needs 50 validation rows.")
    return lines
