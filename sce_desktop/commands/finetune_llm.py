"""What `finetune --model llm:...` takes and does: LoRA of a language model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from sce_desktop.commands import console, number_types, options
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural

_SHOWN_LABELS = 10  # labels in a line; --json has them all


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that a language model alone has."""
    group = parser.add_argument_group(
        "with --model llm[:MODEL] (LoRA; the paper's settings are the defaults)"
    )
    group.add_argument(
        "--rank",
        type=number_types.whole_number(1),
        default=180,
        metavar="R",
        help="rank of the adapters (default: 180)",
    )
    group.add_argument(
        "--batch",
        type=number_types.whole_number(1),
        default=0,
        metavar="N",
        help="batch size in rows (default: 2 for models of about 1B parameters, 4 for small ones)",
    )
    group.add_argument(
        "--accumulate",
        type=number_types.whole_number(1),
        default=0,
        metavar="N",
        help="batches per step (default: 32 for models of about 1B parameters, 4 for small ones)",
    )
    group.add_argument(
        "--prompt", choices=("paper", "short"), default="paper", help="wording of the prompt (default: paper)"
    )
    group.add_argument(
        "--quantise",
        choices=("auto", "nf4", "none"),
        default="auto",
        help="keep frozen weights in 4 bits: auto (with CUDA and bitsandbytes), always (nf4) or never (none)",
    )
    group.add_argument(
        "--max-rows",
        type=number_types.whole_number(1),
        metavar="N",
        help="a random sample of N rows, the same every time",
    )


def is_llm(model: str | None) -> bool:
    """Whether ``--model`` names a language model."""
    return (model or "").partition(":")[0] == "llm"


def untested_line(names: Sequence[str]) -> list[str]:
    """Say of which labels nothing is known, in a line; none where every one was measured."""
    if not names:
        return []
    more = f" and {len(names) - _SHOWN_LABELS:,} more" if len(names) > _SHOWN_LABELS else ""
    return [
        f"Not evaluated, too few examples: {', '.join(f'“{name}”' for name in names[:_SHOWN_LABELS])}{more}."
    ]


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Train the adapter, write its folder and say how much it gained."""
    labels = options.given_labels(args, progress)
    table_options = options.table_options(args)

    from sce_desktop.ml.llm.lora import LoraSettings
    from sce_desktop.tasks.training.lora import finetune_llm

    usual = LoraSettings()
    settings = LoraSettings(
        rank=args.rank,
        learning_rate=usual.learning_rate if args.lr is None else args.lr,
        epochs=usual.epochs if args.epochs is None else args.epochs,
        batch=args.batch,
        accumulate=args.accumulate,
        quantise=args.quantise,
        seed=args.seed,
    )
    with console.if_stopped("Nothing was written."):
        report = finetune_llm(
            options.gold_source(args, labels, table_options),
            args.output,
            model=args.model,
            settings=settings,
            prompt=args.prompt,
            max_rows=args.max_rows,
            force=args.force,
            device=args.device,
            progress=progress,
        )
    if args.json:
        console.print_json({**report.as_json(), "warnings": console.warnings(progress)})
        return 0
    print(
        f"Fine-tuned on {plural(report.train, 'row')} with {plural(len(report.labels), 'label')} "
        f"in {report.seconds['train']:.1f} s ({report.trainable:,} parameters): {report.model}"
    )
    print(f"loss: {report.losses[0]:.3f} at the first step, {report.losses[-1]:.3f} at the last")
    for name, one in (("before", report.before), ("after", report.after)):
        low, high = one.accuracy_interval
        print(
            f"{name:7} {one.accuracy:6.1%} ({low:.1%} to {high:.1%}) "
            f"on {plural(report.held_out, 'held-out row')}"
        )
    for line in untested_line(report.untested):
        print(line)
    return 0
