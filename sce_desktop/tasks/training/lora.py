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
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.metrics import Measures, measure
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import duration
from sce_desktop.tasks.evaluation.gold import GoldSource, read_gold, sample, usable_rows
from sce_desktop.tasks.progress import Unreported
from sce_desktop.tasks.scoring.slow import REPORTED_FROM_S
from sce_desktop.tasks.tables.replaceable import check_tuned

if TYPE_CHECKING:
    from sce_desktop.ml.llm.lora import LoraSettings, LoraTraining
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
    gold: GoldSource,
    output: Path,
    *,
    model: str = "llm",
    settings: LoraSettings | None = None,
    prompt: str = "paper",
    max_rows: int | None = None,
    device: str = "auto",
    force: bool = False,
    progress: Progress,
) -> LoraReport:
    """Train an adapter of ``model`` on the rows of a table and write its folder ``output``.

    A fifth of the rows, of every label, is held out and measured before and after.

    Args:
        gold: The table, with one label a row; the distinct gold values are the labels unless it has others.
        output: Folder of the new model, for ``--baseline llm:FOLDER``.
        model: "llm" or "llm:MODEL".
        settings: Rank, epochs, batch, ...; the paper's by default.
        prompt: "paper" or "short".
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
    rows = _rows(gold, max_rows, progress)

    from sce_desktop.ml.hub.session import choose_device
    from sce_desktop.ml.llm.llm_folder import save_adapter
    from sce_desktop.ml.llm.lora import LoraSettings as Settings

    settings = settings or Settings()
    progress.report(0, None, stage=_("loading the model"))
    where = choose_device(device)
    llm = _trainable(name, where, prompt)
    _report_time(llm, rows.texts, rows.labels, len(rows.train) * settings.epochs, progress)
    before = _measured(llm, rows, progress)
    base_key = llm.lm.key
    adapted, tuned, training = _train(llm, rows, settings, output.name, where, progress)
    after = _measured(tuned, rows, Unreported(progress))
    facts = {
        "training": {
            "rows": len(rows.train),
            "held_out": len(rows.held),
            "rank": settings.rank,
            "epochs": settings.epochs,
            "learning_rate": settings.learning_rate,
            "seed": settings.seed,
            "before": before.accuracy,
            "after": after.accuracy,
        }
    }
    save_adapter(
        adapted, output, base=name, base_key=base_key, prompt=llm.prompt, labels=rows.labels, facts=facts
    )
    return LoraReport(
        model=str(output),
        train=len(rows.train),
        held_out=len(rows.held),
        labels=[label.name for label in rows.labels],
        before=before,
        after=after,
        losses=training.losses,
        trainable=training.trainable,
        quantised=training.quantised,
        epochs=settings.epochs,
        seconds={"train": training.seconds, "total": time.perf_counter() - started},
        untested=tuple(rows.labels[k].name for k in np.setdiff1d(rows.answers, rows.answers[rows.held])),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """n rows to use: ``answers`` (n,) places among the ``labels``; ``train`` and ``held`` places of rows."""

    texts: list[str]
    labels: tuple[Label, ...]
    answers: IdArray
    train: IdArray
    held: IdArray


def _rows(gold: GoldSource, max_rows: int | None, progress: Progress) -> _Rows:
    table = read_gold(gold, progress)
    table.check_one_each()
    found = usable_rows(table, gold.labels, (), progress)
    places = sample(found.places, max_rows)
    if len(places) < LEAST_ROWS:
        raise UserError(
            ngettext(
                "Only {count} row has a text and one of the labels: at least {least} are needed.",
                "Only {count} rows have a text and one of the labels: at least {least} are needed.",
                len(places),
                least=LEAST_ROWS,
            )
        )
    answers = np.asarray(found.first(places), dtype=np.int64)
    held = _held_out(answers, len(found.labels))
    train = np.setdiff1d(np.arange(len(places)), held)
    return _Rows([table.texts[place] for place in places], found.labels, answers, train, held)


def _trainable(name: str, where: Any, prompt: str) -> PromptedLLM:
    """Load a model that an adapter can be trained of."""
    from sce_desktop.ml.llm.llm_folder import load_llm
    from sce_desktop.ml.llm.llm_transformers import TransformersLM
    from sce_desktop.ml.llm.prompts import PROMPTS

    llm = load_llm(name, device=where, prompt=PROMPTS[prompt])
    if not isinstance(llm.lm, TransformersLM) or llm.labels:
        raise UserError(
            _("{name} cannot be trained: choose a model folder with safetensors as the base.", name=name)
        )
    return llm


def _train(
    llm: PromptedLLM, rows: _Rows, settings: LoraSettings, name: str, where: Any, progress: Progress
) -> tuple[Any, PromptedLLM, LoraTraining]:
    """Train; return the adapted weights, the model ``name`` with them, and how it went."""
    from sce_desktop.ml.llm.llm_transformers import TransformersLM
    from sce_desktop.ml.llm.lora import examples, train_lora

    lm = llm.lm
    assert isinstance(lm, TransformersLM)
    texts = [rows.texts[place] for place in rows.train]
    known = examples(llm, llm.frame(rows.labels), texts, rows.answers[rows.train].tolist())
    base_key, tokenizer = lm.key, lm.tokenizer
    adapted, training = train_lora(lm.model, known, settings, device=where, progress=progress)
    inner: Any = adapted.get_base_model()
    trained = TransformersLM(inner, tokenizer, name=name, key=base_key)
    return adapted, type(llm)(trained, prompt=llm.prompt, labels=rows.labels, normalise=False), training


def _measured(llm: PromptedLLM, rows: _Rows, progress: Progress) -> Measures:
    """Measure on the rows that are held out."""
    texts = [rows.texts[place] for place in rows.held]
    return measure(
        rows.answers[rows.held], llm.probabilities(texts, rows.labels, progress=progress).probabilities
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
