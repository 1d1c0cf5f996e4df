"""Fine-tune a prompted LLM by LoRA on a table: the paper's ablation, as a use case."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.labels import check_scorable, distinct_labels, label_key
from sce_desktop.core.metrics import Measures, measure
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import TableOptions
from sce_desktop.core.text import duration
from sce_desktop.tasks.evaluation.evaluation import read_gold, sample
from sce_desktop.tasks.progress import Unreported
from sce_desktop.tasks.scoring.slow import REPORTED_FROM_S
from sce_desktop.tasks.tables.columns import report_alike
from sce_desktop.tasks.tables.replaceable import check_tuned

if TYPE_CHECKING:
    from sce_desktop.ml.llm.lora import LoraSettings
    from sce_desktop.ml.llm.prompted import PromptedLLM

HELD_OUT = 0.2
MOST_HELD_OUT = 500
LEAST_ROWS = 4
TRAINING_FACTOR = 3.0
"""A step of training costs about three passes: forward, and backward to inputs and adapters."""


@dataclass(frozen=True, slots=True)
class LoraReport:
    """What was trained and what it brought. ``losses``: of every optimiser step."""

    model: str
    train: int
    held_out: int
    labels: list[str]
    before: Measures
    after: Measures
    losses: list[float]
    trainable: int
    quantised: bool
    epochs: int
    seconds: dict[str, float]
    untested: tuple[str, ...] = ()  # labels with examples, none of which was held out

    def as_json(self) -> dict[str, Any]:
        """Return plain values, in the shape of every fine-tune."""

        def plain(found: Measures) -> dict[str, Any]:
            return {"accuracy": found.accuracy, "interval": list(found.accuracy_interval)}

        return {
            "model": self.model,
            "rows": {"train": self.train, "held_out": self.held_out},
            "labels": self.labels,
            "before": plain(self.before),
            "after": plain(self.after),
            "untested_labels": list(self.untested),
            "losses": self.losses,
            "trainable_parameters": self.trainable,
            "quantised": self.quantised,
            "epochs": self.epochs,
            "stopped": "done",
            "seconds": self.seconds,
        }


def finetune_llm(
    path: Path,
    output: Path,
    *,
    text_columns: Sequence[str | int],
    gold_column: str,
    lists: bool | None = None,
    merge_alike: bool = False,
    labels: Sequence[Label] | None = None,
    model: str = "llm",
    settings: LoraSettings | None = None,
    prompt: str = "paper",
    options: TableOptions | None = None,
    max_rows: int | None = None,
    device: str = "auto",
    force: bool = False,
    progress: Progress,
) -> LoraReport:
    """Train an adapter of ``model`` on the rows of a table and write its folder ``output``.

    A fifth of the rows, of every label, is held out and measured before and after.

    Args:
        path: The table.
        output: Folder of the new model, for ``--baseline llm:FOLDER``.
        text_columns: Headers or places of the text.
        gold_column: Header of the right labels.
        lists: Whether its cells are JSON lists, of one label each; None: if most of them are.
        merge_alike: Count gold labels that look the same as one.
        labels: The distinct gold values unless given.
        model: "llm" or "llm:MODEL".
        settings: Rank, epochs, batch, ...; the paper's by default.
        prompt: "paper" or "short".
        options: How to read the table.
        max_rows: A random sample, the same every time.
        device: auto, cpu, cuda.
        force: Replace another adapter; see `check_tuned`.
        progress: Told of rows.

    Raises:
        UserError: The table, the model or the place is not right, or training went out of bounds.
        Cancelled: The user stopped; nothing is written.
    """
    started = time.perf_counter()
    name = _base_name(model)
    check_tuned(output, name, adapter=True, force=force)  # not only after hours of training
    table = read_gold(
        path,
        text_columns,
        gold_column,
        options or TableOptions(),
        progress,
        lists=lists,
        merge_alike=merge_alike,
        labels=labels or (),
    )
    texts, gold = table.texts, table.one_each
    chosen = tuple(labels or distinct_labels(gold))
    check_scorable(chosen, least=2)
    report_alike([*(label.name for label in chosen), *filter(None, gold)], progress)
    index_of = {label_key(label.name): index for index, label in enumerate(chosen)}
    gold = list(map(label_key, gold))
    usable = [place for place, name in enumerate(gold) if name in index_of and not is_blank(texts[place])]
    usable = sample(usable, max_rows)
    if len(usable) < LEAST_ROWS:
        raise UserError(
            ngettext(
                "Only {count} row has a text and one of the labels: at least {least} are needed.",
                "Only {count} rows have a text and one of the labels: at least {least} are needed.",
                len(usable),
                least=LEAST_ROWS,
            )
        )
    wanted = [texts[place] for place in usable]
    answers = np.asarray([index_of[gold[place]] for place in usable], dtype=np.int64)
    held = _held_out(answers, len(chosen))
    train = np.setdiff1d(np.arange(len(wanted)), held)

    from sce_desktop.ml.hub.session import choose_device
    from sce_desktop.ml.llm.llm_folder import load_llm, save_adapter
    from sce_desktop.ml.llm.llm_transformers import TransformersLM
    from sce_desktop.ml.llm.lora import LoraSettings as Settings
    from sce_desktop.ml.llm.lora import examples, train_lora
    from sce_desktop.ml.llm.prompts import PROMPTS

    settings = settings or Settings()
    progress.report(0, None, stage=_("loading the model"))
    where = choose_device(device)
    llm = load_llm(name, device=where, prompt=PROMPTS[prompt])
    if not isinstance(llm.lm, TransformersLM) or llm.labels:
        raise UserError(
            _("{name} cannot be trained: choose a model folder with safetensors as the base.", name=name)
        )
    held_texts = [wanted[place] for place in held]
    _report_time(llm, wanted, chosen, len(train) * settings.epochs, progress)
    before = measure(answers[held], llm.probabilities(held_texts, chosen, progress=progress).probabilities)
    rows = examples(
        llm, llm.frame(chosen), [wanted[place] for place in train], [int(answers[place]) for place in train]
    )
    base_key, tokenizer = llm.lm.key, llm.lm.tokenizer
    adapted, training = train_lora(llm.lm.model, rows, settings, device=where, progress=progress)
    inner: Any = adapted.get_base_model()
    trained = TransformersLM(inner, tokenizer, name=output.name, key=base_key)
    tuned = type(llm)(trained, prompt=llm.prompt, labels=chosen, normalise=False)
    scores = tuned.probabilities(held_texts, chosen, progress=Unreported(progress))
    after = measure(answers[held], scores.probabilities)
    facts = {
        "training": {
            "rows": len(train),
            "held_out": len(held),
            "rank": settings.rank,
            "epochs": settings.epochs,
            "learning_rate": settings.learning_rate,
            "seed": settings.seed,
            "before": before.accuracy,
            "after": after.accuracy,
        }
    }
    save_adapter(adapted, output, base=name, base_key=base_key, prompt=llm.prompt, labels=chosen, facts=facts)
    return LoraReport(
        model=str(output),
        train=len(train),
        held_out=len(held),
        labels=[label.name for label in chosen],
        before=before,
        after=after,
        losses=training.losses,
        trainable=training.trainable,
        quantised=training.quantised,
        epochs=settings.epochs,
        seconds={"train": training.seconds, "total": time.perf_counter() - started},
        untested=tuple(chosen[k].name for k in np.setdiff1d(answers, answers[held])),
    )


def _base_name(model: str) -> str:
    from sce_desktop.ml.hub.known_models import DEFAULT_LLM

    kind, _colon, name = model.partition(":")
    if kind != "llm":
        raise UserError(_("“{model}” is not an LLM: write llm or llm:MODEL.", model=model))
    return name or DEFAULT_LLM


def _held_out(answers: IdArray, labels: int) -> IdArray:
    """Return places of about a fifth of each label's rows, at least one row in all, the same every time."""
    random = np.random.default_rng(0)
    share = min(HELD_OUT, MOST_HELD_OUT / len(answers))
    held: list[int] = []
    for label in range(labels):
        places = random.permutation(np.flatnonzero(answers == label))
        held += places[: round(share * len(places))].tolist()
    return np.sort(np.asarray(held or [0], dtype=np.int64))


def _report_time(
    llm: PromptedLLM, texts: Sequence[str], labels: Sequence[Label], rows: int, progress: Progress
) -> None:
    seconds = TRAINING_FACTOR * rows * llm.seconds_a_row(texts, labels)
    if seconds >= REPORTED_FROM_S:
        progress.warn(
            _(
                "Training on {rows} rows takes about {time} here.",
                rows=number(rows),
                time=duration(seconds),
            )
        )
