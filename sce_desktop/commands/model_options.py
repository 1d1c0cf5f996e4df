"""Options that choose models, and the models that they choose."""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sce_desktop.core.escapes import one_line
from sce_desktop.core.precision import AUTO, PRECISIONS
from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.runs import TextModel, VectorCache
    from sce_desktop.core.tables import TableOptions
    from sce_desktop.ml.hub.session import ModelSession
    from sce_desktop.tasks.scoring.choice import Choice
    from sce_desktop.tasks.scoring.models import Baseline, ModelSource


def add_models(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add ``--model``, ``--baseline``, ``--device`` and ``--precision``."""
    group = parser.add_argument_group("models")
    group.add_argument(
        "--model",
        action="append" if several else "store",
        metavar="NAME_OR_DIR",
        help="name or folder of a model (default: sce-mini, or sce-multi for other languages than English)"
        + ("; may be repeated" if several else ""),
    )
    group.add_argument(
        "--baseline",
        action="append",
        default=[],
        metavar="[ALIAS=]KIND[:MODEL]",
        help="baseline to compare with, of KIND similarity or llm; its columns begin with ALIAS",
    )
    group.add_argument(
        "--device", default="auto", help="device: auto (default), cpu, cuda, cuda:N, cuda:all or mps"
    )
    group.add_argument(
        "--precision",
        choices=(AUTO, *PRECISIONS),
        default=AUTO,
        help="precision of the text encoder; auto (default): float16 on an NVIDIA GPU, bfloat16 where the "
        "processor is faster with it, else float32",
    )


def choose_model(
    args: argparse.Namespace,
    labels: tuple[Label, ...] | None,
    table_options: TableOptions,
    progress: Progress,
    *,
    label_column: str | None = None,
) -> Choice | None:
    """Choose the model for ``args.table`` and say on stderr which and why; None where one was given.

    Without ``labels`` the values of ``label_column`` are looked at.

    Raises:
        UserError: The table cannot be read, or lacks a column.
    """
    if args.model:
        return None
    from sce_desktop.tasks.scoring.choice import choose_for_table

    choice = choose_for_table(
        args.table,
        args.text,
        labels=labels,
        label_column=label_column,
        options=table_options,
        progress=progress,
    )
    report_choice(choice, progress)
    return choice


def report_choice(choice: Choice, progress: Progress) -> None:
    """Say on stderr which model was chosen and why; that a better one is missing is a warning."""
    if choice.missing:
        progress.warn(choice.reason)
        return
    with contextlib.suppress(OSError):  # the terminal is gone, or the disk full
        print(one_line(f"Chosen model: {choice.model}. {choice.reason}"), file=sys.stderr, flush=True)


def choice_facts(choice: Choice | None) -> dict[str, Any]:
    """Return what ``--json`` says about a choice of the model; nothing where a model was given."""
    if choice is None:
        return {}
    shares = {code: round(share, 4) for code, share in choice.languages.shares.items()}
    return {"reason": choice.reason, "languages": shares}


class _LazySession:
    """Imports torch when the first model is asked for: what is wrong before that is reported at once."""

    def __init__(self, device: str, threads: int, precision: str) -> None:
        self._device = device
        self._threads = threads
        self._precision = precision

    @functools.cached_property
    def _session(self) -> ModelSession:
        from sce_desktop.tasks.scoring.models import open_session

        return open_session(self._device, self._threads, self._precision)

    @property
    def devices(self) -> tuple[str, ...]:
        """All that were asked for."""
        return self._session.devices

    def use(self, workers: Callable[[Any], Any]) -> None:
        """Let ``workers`` start what makes text vectors elsewhere."""
        self._session.workers = workers

    def rest(self) -> None:
        """End the worker processes on several devices, until they are needed again."""
        self._session.rest()

    def model(self, name: str) -> TextModel:
        return self._session.model(name)

    def baseline(self, spec: str) -> TextModel:
        return self._session.baseline(spec)


def open_models(args: argparse.Namespace) -> tuple[ModelSource, list[Baseline], VectorCache]:
    """Return where models come from, the baselines and the cache of text vectors that were asked for."""
    from sce_desktop.settings import Settings
    from sce_desktop.tasks.scoring.models import open_vector_cache, parse_baselines

    settings = Settings.load()
    baselines = parse_baselines(args.baseline)
    source = _LazySession(args.device, int(settings["threads"]), args.precision)
    return source, baselines, open_vector_cache(int(settings["cache_megabytes"]))
