"""``evaluate`` and ``benchmark``: the accuracy of models, on a table and on the benchmark sets."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop.commands import console, engines, model_options, number_types, options
from sce_desktop.core.errors import UserError
from sce_desktop.core.escapes import shown
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.core.metrics import Measures
    from sce_desktop.research.benchmark import BenchmarkReport
    from sce_desktop.research.few_shot import FewShotReport

PARTS = ("benchmark", "validation", "train-test", "all", "multilingual")


def add_command(commands: options.Commands) -> None:
    """Add both commands."""
    parser = options.add_parser(commands, "evaluate", "evaluate models on a table with gold labels")
    parser.add_argument("table", type=Path, metavar="TABLE", help="CSV, TSV, XLSX, Parquet or JSON Lines")
    options.add_text(parser)
    parser.add_argument("--gold", required=True, metavar="COLUMN", help="header of the column of gold labels")
    options.add_lists(parser)
    options.add_merge(parser)
    options.add_labels(parser)
    _add_max_rows(parser)
    _add_label_order_option(parser)
    model_options.add_models(parser, several=True)
    options.add_joint(parser)
    engines.add_engine(parser)
    options.add_table(parser)
    options.add_json(parser)
    parser.set_defaults(run=run_evaluate)

    parser = options.add_parser(commands, "benchmark", "evaluate models on a folder of labelled sets")
    parser.add_argument(
        "data",
        type=Path,
        nargs="?",
        metavar="DATA_DIR",
        help="folder with train/, validation/, benchmark/",
    )
    parser.add_argument(
        "--part",
        choices=PARTS,
        help="which sets (default: benchmark; with --few-shot six of them; all excludes multilingual)",
    )
    parser.add_argument("--sets", type=_names, metavar="NAMES", help="only these sets, separated by commas")
    parser.add_argument(
        "--paper-labels", action="store_true", help="the paper's label names and dropped classes"
    )
    parser.add_argument(
        "--balance-labels",
        action="store_true",
        help="correct for label imbalance in each table; imbalanced resamples show what that costs",
    )
    options.add_joint(parser)
    _add_max_rows(parser)
    _add_label_order_option(parser)
    parser.add_argument(
        "--few-shot",
        action="store_true",
        help="instead: accuracy with 1 to 64 labelled rows per label, compared with simpler methods",
    )
    parser.add_argument(
        "--draws",
        type=number_types.whole_number(1),
        default=10,
        metavar="N",
        help="with --few-shot: random draws of rows for each size (default: 10)",
    )
    parser.add_argument(
        "--sizes",
        type=_sizes,
        metavar="SIZES",
        help="with --few-shot: rows per label, separated by commas (default: 1,2,4,8,16,32,64)",
    )
    parser.add_argument(
        "--setfit",
        action="store_true",
        help="with --few-shot: also SetFit, at 8 and 16 rows per label in 3 draws (slow; extra setfit)",
    )
    parser.add_argument(
        "--heads",
        action="store_true",
        help="with --few-shot: instead of simpler methods, each head of a version and the chosen one",
    )
    parser.add_argument(
        "--trained-head",
        action="store_true",
        help="with --few-shot: also train the SCE's weights, which the fine-tune keeps unchanged",
    )
    parser.add_argument(
        "--adapt-embedder",
        action="store_true",
        help="with --few-shot: also fine-tune the text encoder (LoRA, minutes per draw)",
    )
    parser.add_argument(
        "--training-time",
        action="store_true",
        help="instead: time the paper's two kinds of training on this machine, with random weights",
    )
    parser.add_argument(
        "--steps",
        type=number_types.whole_number(1),
        default=50,
        metavar="N",
        help="optimiser steps to time for each kind (default: 50)",
    )
    model_options.add_models(parser, several=True)
    options.add_json(parser)
    parser.set_defaults(run=run_benchmark)


def _names(value: str) -> list[str]:
    return [name.strip() for name in value.split(",")]


def _sizes(value: str) -> list[int]:
    return [number_types.whole_number(1)(size) for size in value.split(",")]


def _add_max_rows(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-rows",
        type=number_types.whole_number(1),
        metavar="N",
        help="a random sample of N rows, the same every time",
    )


def _add_label_order_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--order-check",
        type=number_types.whole_number(1),
        default=0,
        metavar="N",
        help="label-order sensitivity: share of predictions that change in N other label orders",
    )


def run_evaluate(args: argparse.Namespace, progress: Progress) -> int:
    """Measure on the table and print a line for each model."""
    labels = options.given_labels(args, progress)
    table_options = options.table_options(args)

    from sce_desktop.tasks.evaluation.evaluation import EvaluationSettings, evaluate_table

    engines.check(args)
    source, baselines, cache = model_options.open_models(args)
    choice = model_options.choose_model(args, labels, table_options, progress, label_column=args.gold)
    with engines.spread(args, source) as where:
        report = evaluate_table(
            options.gold_source(args, labels, table_options),
            EvaluationSettings(
                models=(choice.model,) if choice else tuple(_models(args)),
                baselines=tuple(baselines),
                max_rows=args.max_rows,
                shuffles=args.order_check,
                whole_table=args.whole_table,
            ),
            source=where,
            cache=cache,
            progress=progress,
        )
    if args.json:
        console.print_json(
            {
                "rows": report.rows,
                "whole_table": args.whole_table,
                "skipped": report.skipped,
                "labels": report.labels,
                "multi_label": report.multi_label,
                "models": {name: _as_json(found, report.labels) for name, found in report.models.items()},
                "baselines": report.baselines,
                "seconds": report.seconds,
                "precision": report.precision,
                **model_options.choice_facts(choice),
                "warnings": console.warnings(progress),
                **(
                    {"order_check": {name: asdict(one) for name, one in report.orders.items()}}
                    if report.orders
                    else {}
                ),
            }
        )
        return 0
    size = f"{plural(report.rows, 'row')}, {plural(len(report.labels), 'label')}"
    print(f"{size}{_excluded(report.skipped)}{_jointly(args)}")
    if report.multi_label:
        print("Multi-label: a prediction is correct if it is one of the row's gold labels.")
    width = max(len(shown(name)) for name in report.models)
    print(f"{'':{width}}  accuracy (95% interval)   macro-F1    ECE")
    for name, found in report.models.items():
        low, high = found.accuracy_interval
        print(
            f"{shown(name):{width}}  {found.accuracy:8.1%} ({low:.1%} to {high:.1%})".ljust(width + 28)
            + f"{found.macro_f1:8.1%}  {found.ece:5.3f}"
        )
    _print_baselines(report.baselines)
    for name, check in report.orders.items():
        print(f"{shown(name)}: {check.changed:.1%} of predictions change with the order of the labels.")
    return 0


def _print_baselines(baselines: dict[str, str]) -> None:
    """Name the model behind each baseline."""
    for alias, model in baselines.items():
        print(f"{shown(alias)}: {shown(model)}")


def _excluded(skipped: dict[str, int]) -> str:
    reasons = {
        "blank": "without text",
        "no_gold": "without a gold label",
        "other_label": "with another gold label",
    }
    counts = [f"{skipped[key]:,} {reason}" for key, reason in reasons.items() if skipped[key]]
    return f" (excluded: {', '.join(counts)})" if counts else ""


def _jointly(args: argparse.Namespace) -> str:
    return "; the SCE predicts rows jointly (transductive)" if args.whole_table else ""


def _models(args: argparse.Namespace) -> list[str]:
    from sce_desktop.tasks.scoring.models import DEFAULT_MODEL

    names: list[str] = args.model or [DEFAULT_MODEL]
    if len(set(names)) < len(names):
        raise UserError("A model is given twice: give each --model once.")
    return names


def _as_json(found: Measures, labels: list[str]) -> dict[str, Any]:
    return {
        "accuracy": found.accuracy,
        "accuracy_interval": list(found.accuracy_interval),
        "macro_f1": found.macro_f1,
        "ece": found.ece,
        "labels": {
            label: {
                "rows": one.rows,
                "predicted": one.predicted,
                "precision": one.precision,
                "recall": one.recall,
                "f1": one.f1,
            }
            for label, one in zip(labels, found.labels, strict=True)
        },
        "confusion": found.confusion.tolist(),
    }


def run_benchmark(args: argparse.Namespace, progress: Progress) -> int:
    """Measure on the sets and print the table."""
    if args.training_time:
        return _training_time(args, progress)
    if args.data is None:
        raise UserError("Give the folder of labelled sets, or --training-time.")
    if args.few_shot:
        return _few_shot(args, progress)
    from sce_desktop.research.benchmark import benchmark

    source, baselines, cache = model_options.open_models(args)
    report = benchmark(
        args.data,
        source=source,
        models=_models(args),
        baselines=baselines,
        part=args.part or "benchmark",
        sets=args.sets,
        paper_labels=args.paper_labels,
        max_rows=args.max_rows,
        balance=args.balance_labels,
        whole_table=args.whole_table,
        shuffles=args.order_check,
        cache=cache,
        progress=progress,
    )
    return _print_report(args, report)


def _few_shot(args: argparse.Namespace, progress: Progress) -> int:
    from sce_desktop.research.few_shot import SIZES, few_shot

    source, baselines, cache = model_options.open_models(args)
    models = _models(args)
    if len(models) > 1:
        raise UserError("--few-shot evaluates one model at a time: give one --model.")
    report = few_shot(
        args.data,
        source=source,
        model=models[0],
        baselines=baselines,
        part=args.part,
        sets=args.sets,
        sizes=args.sizes or SIZES,
        draws=args.draws,
        trained_head=args.trained_head,
        setfit=args.setfit,
        adapt_embedder=args.adapt_embedder,
        whole_table=args.whole_table,
        heads=args.heads,
        max_rows=args.max_rows,
        cache=cache,
        progress=progress,
    )
    return _print_report(args, report)


def _print_report(args: argparse.Namespace, report: BenchmarkReport | FewShotReport) -> int:
    if args.json:
        console.print_json(report.as_json())
    else:
        print("\n".join(report.as_markdown()))
        print()
        _print_baselines(report.baselines)
    return 0


def _training_time(args: argparse.Namespace, progress: Progress) -> int:
    from sce_desktop.ml.hub.session import choose_device
    from sce_desktop.research.train_cost import measure, with_steps

    found = measure(with_steps(args.steps), choose_device(args.device), progress)
    if args.json:
        console.print_json(found)
        return 0
    print(f"{found['device']}, torch {found['torch']}, random weights")
    for name, title in (("llm_lora", "LoRA of Llama-3.2-1B"), ("sce", "SCE of roberta-base")):
        one = found[name]
        memory = f", {one['peak_bytes'] / 2**30:.1f} GiB at peak" if one["peak_bytes"] else ""
        print(
            f"{title}: {one['trainable']:,} of {one['parameters']:,} parameters trained, {one['precision']}; "
            f"{one['step_seconds']:.3f} s per step of {one['samples']} samples, "
            f"{one['epoch_seconds']:,.1f} s per epoch{memory}"
        )
    print(
        f"ratio per epoch {found['ratio']:.4f} (the paper measured {found['paper_ratio']}, "
        f"its formulas give {found['formula_ratio']:.4f})"
    )
    return 0
