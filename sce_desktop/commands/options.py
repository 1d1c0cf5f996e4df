"""What several commands share: options of tables, labels and models, and how results are printed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sce_desktop.commands import console, number_types
from sce_desktop.core.errors import UserError
from sce_desktop.core.heads import Way
from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.tables import TableOptions
    from sce_desktop.tasks.evaluation.final_labels import FinalReport
    from sce_desktop.tasks.evaluation.gold import GoldSource


class Commands(Protocol):
    """What argparse gives to add commands to; its own class is private."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:
        """Add the command ``name``."""


def add_parser(commands: Commands, name: str, help: str) -> argparse.ArgumentParser:
    """Add a command whose description is its help."""
    return commands.add_parser(
        name, help=help, description=f"{help[:1].upper()}{help[1:]}.", allow_abbrev=False
    )


def add_hidden_parser(commands: Commands, name: str, help: str) -> argparse.ArgumentParser:
    """Add a command that no help lists: the old name of another one, which scripts hold."""
    return commands.add_parser(name, description=f"{help[:1].upper()}{help[1:]}.", allow_abbrev=False)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print a machine-readable result on stdout")


def add_text(parser: argparse.ArgumentParser) -> None:
    """Add ``--text``, at least once."""
    parser.add_argument(
        "--text",
        action="append",
        required=True,
        metavar="COLUMN",
        help="header of the text column; several columns are joined by line breaks",
    )


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how to read a table."""
    group = parser.add_argument_group("table format (auto-detected by default)")
    group.add_argument("--encoding", help="such as utf-8 or cp1252")
    group.add_argument("--delimiter", help="one character, tab, or none (each line is one cell)")
    group.add_argument(
        "--quote",
        default="auto",
        metavar="SIGN",
        help="quote around cells: double, single or another character; none: quotes are plain text",
    )
    group.add_argument(
        "--escape",
        choices=("auto", "none", "backslash"),
        default="auto",
        help="backslash: a quote, delimiter or line break after a backslash is plain text",
    )
    group.add_argument(
        "--skip-spaces",
        action=argparse.BooleanOptionalAction,
        help="ignore spaces around quoted cells",
    )
    group.add_argument("--sheet", help="name of the sheet in an XLSX file")
    group.add_argument("--header-row", type=_header_row, metavar="N", help="line of the header, or none")


def _header_row(text: str) -> int:
    return 0 if text == "none" else number_types.whole_number(0)(text)


def table_options(args: argparse.Namespace) -> TableOptions:
    """Return what `add_table` added.

    Raises:
        UserError: The delimiter or the quote is not one character.
    """
    from sce_desktop.core.tables import TableOptions

    delimiter = {"\\t": "\t", "tab": "\t", "none": ""}.get(args.delimiter, args.delimiter)
    if delimiter is not None and (len(delimiter) > 1 or not args.delimiter):
        raise UserError(f"“{delimiter}” is not a delimiter: give one character.")
    quote = {"auto": None, "none": None, "double": '"', "single": "'"}.get(args.quote, args.quote)
    if quote is not None and len(quote) != 1:
        raise UserError(f"“{quote}” is not a quote: give one character, double, single or none.")
    return TableOptions(
        encoding=args.encoding,
        delimiter=delimiter,
        quoting={"auto": None, "none": False}.get(args.quote, True),
        sheet=args.sheet,
        header_row=args.header_row,
        quote=quote,
        escape={"auto": None, "none": "", "backslash": "\\"}[args.escape],
        spaces=args.skip_spaces,
    )


def add_labels(parser: argparse.ArgumentParser) -> None:
    """Add ``--label`` and ``--labels-file``, of which one at most can be used."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--label",
        action="append",
        metavar="NAME",
        help="name of a label; give one --label for each",
    )
    group.add_argument(
        "--labels-file",
        type=Path,
        metavar="FILE",
        help="file of labels: one name per line, or CSV/JSON/JSONL with name, description, synonyms, "
        "colour, shortcut",
    )


def gold_source(
    args: argparse.Namespace, labels: Sequence[Label] | None, options: TableOptions
) -> GoldSource:
    """Return the table with gold labels that ``args`` name."""
    from sce_desktop.tasks.evaluation.gold import GoldSource

    return GoldSource(
        path=args.table,
        text_columns=args.text,
        column=args.gold,
        labels=labels or (),
        lists=args.lists,
        merge_alike=args.merge_labels,
        options=options,
    )


def given_labels(args: argparse.Namespace, progress: Progress) -> tuple[Label, ...] | None:
    """Return the labels that `add_labels` took, None if there were none; warn of look-alikes.

    Raises:
        UserError: Two are the same, one has no name, or the file is not right.
    """
    from sce_desktop.core.labels import clean_labels, look_alikes, meaningless

    if args.labels_file is not None:
        from sce_desktop.data.labels_file import read_labels

        labels = read_labels(args.labels_file)
    elif args.label is not None:
        labels = clean_labels(args.label)
    else:
        return None
    names = [label.name for label in labels]
    for group in look_alikes(names):
        progress.warn(f"These labels look the same: {console.quoted(group)}.")
    if codes := meaningless(names):
        progress.warn(
            f"The model reads label names as words. These have no meaning: {console.quoted(codes[:3])}. "
            "Use descriptive names."
        )
    return labels


def add_lists(parser: argparse.ArgumentParser) -> None:
    """Add ``--no-lists``: ``lists`` is False with it, else None, which is to look at the cells."""
    parser.add_argument(
        "--no-lists",
        dest="lists",
        action="store_const",
        const=False,
        help="do not split label lists: a JSON list in a label cell is one label",
    )


def add_merge(parser: argparse.ArgumentParser) -> None:
    """Add ``--merge-labels``."""
    parser.add_argument(
        "--merge-labels",
        action="store_true",
        help="merge labels that look the same (Late, late) into the given one, or the most frequent one",
    )


def add_head(parser: argparse.ArgumentParser) -> None:
    """Add ``--head``: the way in which the result of a fine-tune predicts."""
    parser.add_argument(
        "--head",
        choices=("auto", *(way.value for way in Way if way is not Way.ZERO_SHOT)),
        default="auto",
        help="how the new model predicts: the SCE head, logistic regression on the text vectors, the product "
        "of both, or the SCE head on a fine-tuned text encoder (adapted, implies --adapt-embedder); auto "
        "(default): what cross-validation chooses",
    )


def head_of(args: argparse.Namespace) -> Way | None:
    """Return the way that ``--head`` names; None: the one that cross-validation chooses."""
    return None if args.head == "auto" else Way(args.head)


def add_force(parser: argparse.ArgumentParser, what: str = "a file") -> None:
    """Add ``--force``; ``what`` it lets be replaced."""
    parser.add_argument("--force", action="store_true", help=f"replace {what} that already exists")


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed`` of the validation split."""
    parser.add_argument(
        "--seed",
        type=number_types.whole_number(0),
        default=0,
        metavar="S",
        help="random seed for the validation split (default: 0)",
    )


def add_joint(parser: argparse.ArgumentParser, *, kept: bool = False) -> None:
    """Add ``--joint``; if it is ``kept``, ``--no-joint`` too, and None where neither is given.

    ``--whole-table`` is its old name, which scripts hold.
    """
    action: Any = argparse.BooleanOptionalAction if kept else "store_true"
    default = None if kept else False
    words = "predict rows jointly (transductive): similar rows refine each other's predictions"
    words += "; kept in the project" if kept else ""
    parser.add_argument("--joint", dest="whole_table", action=action, default=default, help=words)
    parser.add_argument(
        "--whole-table", dest="whole_table", action=action, default=default, help=argparse.SUPPRESS
    )


def add_all_rows(parser: argparse.ArgumentParser) -> None:
    """Add ``--all-rows``."""
    parser.add_argument(
        "--all-rows",
        action="store_true",
        help="learn from all labelled rows however long it takes; default: from a random sample, stratified "
        "by label, where the estimate is above 7 minutes",
    )


def add_threshold(parser: argparse.ArgumentParser, *, default: str = "") -> None:
    """Add ``--threshold``; ``default`` says what counts where it is not given."""
    otherwise = f" (default: {default})" if default else ""
    parser.add_argument(
        "--threshold",
        type=number_types.fraction,
        metavar="P",
        help='confidence threshold: predictions below P get status "unsure"; with --multi-label, labels with '
        "probability ≥ P are assigned" + otherwise,
    )


def add_final(parser: argparse.ArgumentParser, *, columns: bool = False) -> None:
    """Add ``--final`` and ``--max-error``; with ``columns`` of a table ``--gold`` and ``--audit`` too."""
    group = parser.add_argument_group("final labels")
    group.add_argument(
        "--final",
        action="store_true",
        help="write final_label and final_source: the annotator's label where there is one, else the "
        "model's from the confidence threshold up, else none",
    )
    where = "the column of --audit or --gold" if columns else "the project's audit sample or gold labels"
    group.add_argument(
        "--max-error",
        type=number_types.share,
        metavar="E",
        help=f"choose the lowest confidence threshold at which {where} promises, with 95%% confidence, an "
        "error of at most E (5%% or 0.05) among the rows that the model labels; with --final",
    )
    if columns:
        evidence = group.add_mutually_exclusive_group()
        evidence.add_argument(
            "--audit",
            metavar="COLUMN",
            help="header of a column with the labels of a random sample of rows; they are final labels",
        )
        evidence.add_argument(
            "--gold",
            metavar="COLUMN",
            help="header of a column of gold labels: they say how often the model is wrong, and nothing else",
        )


def check_final(args: argparse.Namespace) -> None:
    """Refuse options of `add_final` that do not go together.

    Raises:
        UserError: One is given without another that it needs, or with one that it excludes.
    """
    columns = [f"--{name}" for name in ("audit", "gold") if getattr(args, name, None)]
    for name in (*(("--max-error",) if args.max_error is not None else ()), *columns):
        if not args.final:
            raise UserError(f"{name} is about final labels: add --final.")
    if args.max_error is not None and args.threshold is not None:
        raise UserError("--max-error chooses the confidence threshold: leave --threshold out.")
    if args.max_error is not None and hasattr(args, "audit") and not columns:
        raise UserError(
            "--max-error needs --audit or --gold, a column that says which predictions are wrong."
        )


def final_sentence(report: FinalReport) -> str:
    """Say what final labels came of, and with which threshold."""
    how = "chosen" if report.max_error is not None else "given"
    where = {"audit": " from the audit sample", "gold": " from gold labels"}.get(report.basis, "")
    threshold = f"Confidence threshold {report.threshold:g}, {how}{where if how == 'chosen' else ''}."
    return f"Final labels: {report.annotator:,} by annotators, {report.summary} {threshold}"
