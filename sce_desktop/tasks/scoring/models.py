"""Which models score: the one asked for, its baselines, and where they are found."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from sce_desktop import paths
from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.labels import check_scorable
from sce_desktop.core.precision import AUTO
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import ModelKind, TextModel, VectorCache

if TYPE_CHECKING:
    from pathlib import Path

    from sce_desktop.core.models import Device, Entry, Known, Verified
    from sce_desktop.ml.hub.session import ModelSession

MAIN_ALIAS = "sce"
DEFAULT_MODEL = "sce-mini"
MULTILINGUAL_MODEL = "sce-multi"
_BASELINE = re.compile(r"(?P<kind>similarity|llm)(?::(?P<model>.+))?", re.DOTALL)
_ALIAS = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Baseline:
    """A simpler model shown beside the main one. ``model`` empty: the default of its kind."""

    alias: str
    kind: ModelKind = "similarity"
    model: str = ""

    @classmethod
    def parse(cls, text: str) -> Baseline:
        """Read ``[ALIAS=]similarity[:MODEL]`` or ``[ALIAS=]llm[:MODEL]``.

        Raises:
            UserError: It is none of these.
        """
        alias, match = "", _BASELINE.fullmatch(text)
        if match is None and "=" in text:
            alias, _equals, rest = text.partition("=")
            match = _BASELINE.fullmatch(rest)
            if not _ALIAS.fullmatch(alias) or alias == MAIN_ALIAS:
                raise UserError(
                    _(
                        "“{alias}” cannot name a baseline: use letters, digits, “_”, “.” and “-”, and not "
                        "“{main}”.",
                        alias=alias,
                        main=MAIN_ALIAS,
                    )
                )
        if match is None:
            raise UserError(
                _(
                    "“{text}” is not a baseline: write similarity or llm, similarity:MODEL or "
                    "NAME=similarity.",
                    text=text,
                )
            )
        kind: ModelKind = "llm" if match["kind"] == "llm" else "similarity"
        return cls(alias or kind, kind, match["model"] or "")

    @property
    def spec(self) -> str:
        """What a `ModelSession` calls it, such as ``similarity`` or ``llm:MODEL``."""
        return f"{self.kind}:{self.model}" if self.model else self.kind


def parse_baselines(texts: Sequence[str]) -> list[Baseline]:
    """Read several baselines.

    Raises:
        UserError: One cannot be read, or two have the same alias.
    """
    baselines = [Baseline.parse(text) for text in texts]
    aliases = [baseline.alias for baseline in baselines]
    for alias in aliases:
        if aliases.count(alias) > 1:
            raise UserError(
                _(
                    "Two baselines are called “{alias}”: name one, as in other={baseline}.",
                    alias=alias,
                    baseline=texts[-1],
                )
            )
    return baselines


class ModelSource(Protocol):
    """Where models come from: a `ModelSession`, or what opens one when it is first needed."""

    def model(self, name: str) -> TextModel:
        """Return the model ``name``. UserError if it is missing or damaged."""

    def baseline(self, spec: str) -> TextModel:
        """Return the baseline ``spec``. UserError if it is missing or damaged."""


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A loaded model with its column prefix (``alias``) and the name the user gave it."""

    alias: str
    name: str
    model: TextModel
    whole_table: bool = False  # it knows the rows of the table
    of: str = ""  # the model behind a baseline, such as the embedder whose vectors it compares

    @property
    def title(self) -> str:
        """What its runs are called."""
        return self.of or self.name


@dataclass(slots=True)
class Loaded:
    """Models ready to score, the main ones first, and the seconds that loading took."""

    models: list[NamedModel]
    seconds: float

    @property
    def baselines(self) -> dict[str, str]:
        """The model behind each baseline, by alias."""
        return {named.alias: named.of for named in self.models if named.of}


def load_models(
    source: ModelSource, names: Sequence[str], baselines: Sequence[Baseline], progress: Progress
) -> Loaded:
    """Load the main models ``names`` and the ``baselines``; what stands for what is `similarity_beside`.

    Raises:
        UserError: One is missing or damaged.
    """
    started = time.perf_counter()
    wanted = len(names) + len(baselines)
    models: list[NamedModel] = []
    for name in names:
        progress.report(len(models), wanted, stage=_("loading models"))
        progress.check()
        models.append(NamedModel(MAIN_ALIAS, name, source.model(name)))
    for baseline in baselines:
        progress.report(len(models), wanted, stage=_("loading models"))
        progress.check()
        one = beside(baseline, names[0] if names else DEFAULT_MODEL)
        models.append(
            NamedModel(one.alias, one.alias, source.baseline(one.spec), of=one.model or default_of(one.kind))
        )
    progress.report(wanted, wanted, stage=_("loading models"))
    return Loaded(models, time.perf_counter() - started)


def similarity_beside(model: str) -> str:
    """Return the model whose text vectors the similarity baseline compares beside the main ``model``.

    MiniLM reads English alone: beside an SCE of many languages it would be no comparison. There it is that
    SCE's own text embedder: similarity then says what the cosine gives without the label encoder.
    """
    from sce_desktop.ml.hub import catalog, folders
    from sce_desktop.ml.hub.known_models import MINILM

    if model.startswith("llm:"):
        return MINILM
    try:
        return model if folders.reads_many_languages(catalog.resolve(model)) else MINILM
    except UserError:  # loading the model raises it
        return MINILM


def beside(baseline: Baseline, model: str) -> Baseline:
    """Return ``baseline`` with its model named where it is not the usual one beside the main ``model``."""
    if baseline.kind != "similarity" or baseline.model:
        return baseline
    own = similarity_beside(model)
    return baseline if own == default_of("similarity") else replace(baseline, model=own)


def precision_of(model: TextModel) -> str | None:
    """Return what the text embedder of ``model`` multiplies in; None for a model that has none."""
    found: str | None = getattr(model, "precision", None)
    return found


def count_cut(model: TextModel, texts: Sequence[str]) -> int:
    """Return how many of ``texts`` are longer than ``model`` reads; 0 for a model that cannot tell."""
    embedder: Any = getattr(model, "text_embedder", None) or getattr(model, "embedder", model)
    long = [text for text in texts if len(text) > model.max_tokens]  # a token has a character at least
    if not hasattr(embedder, "token_counts") or not long:
        return 0
    return int((embedder.token_counts(long) > model.max_tokens).sum())


def labels_for(
    model: TextModel, labels: Sequence[Label] | None, *, multi_label: bool = False
) -> tuple[Label, ...]:
    """Return the ``labels`` given, else those that the model carries itself.

    Raises:
        UserError: There are none, or too few.
    """
    chosen = tuple(labels or model.labels)
    if not chosen:
        raise UserError(_("The model has no labels of its own: give at least one label."))
    check_scorable(chosen)
    return chosen


def open_session(device: str = "auto", threads: int | None = None, precision: str = AUTO) -> ModelSession:
    """Return a session that loads models when they are first asked for. Importing torch takes seconds.

    Raises:
        UserError: The device is not there, or has no instructions for the precision.
    """
    from sce_desktop.ml.hub.session import ModelSession

    return ModelSession(device, threads, precision=precision)


def open_vector_cache(megabytes: int = 2000) -> VectorCache:
    """Return the user's cache of text vectors."""
    from sce_desktop.store.runs.vector_cache import VectorCache as FileVectorCache

    return FileVectorCache(paths.vector_cache_file(), megabytes * 1_000_000)


def bound_vector_cache(cache: VectorCache, megabytes: int) -> None:
    """Let ``cache``, which `open_vector_cache` has opened, keep so much from now on."""
    from sce_desktop.store.runs.vector_cache import VectorCache as FileVectorCache

    if isinstance(cache, FileVectorCache):
        cache.max_bytes = megabytes * 1_000_000


def installed_models() -> tuple[Entry, ...]:
    """Return every model that is here, the bundled ones first. Needs no torch."""
    from sce_desktop.ml.hub import catalog

    return catalog.list_models()


def scoring_models() -> tuple[str, ...]:
    """Return the names of the sound SCEs that are here. Needs no torch."""
    return tuple(entry.name for entry in installed_models() if entry.kind == "sce" and not entry.problem)


def default_of(kind: ModelKind) -> str:
    """Return the model that plays a part unless another is named."""
    from sce_desktop.ml.hub.known_models import DEFAULT_LLM, MINILM

    return {"sce": DEFAULT_MODEL, "similarity": MINILM, "llm": DEFAULT_LLM}[kind]


def known_models() -> tuple[Known, ...]:
    """Return the published models that go by name. Needs no torch, asks nobody."""
    from sce_desktop.ml.hub.known_models import KNOWN

    return KNOWN


def look_up(name: str, *, progress: Progress) -> Known:
    """Return the terms, size and needs of a model before it is fetched; asks the hub unless it is known.

    Raises:
        UserError: There is none, or the hub does not answer.
    """
    from sce_desktop.ml.hub import installing

    progress.report(0, None, stage=_("looking up {name}", name=name))
    progress.check()
    return installing.look(name)


def get_model(name: str, *, place: str = "", code: bool = False, progress: Progress) -> Path:
    """Fetch the model ``name`` and return its folder; its own program code comes along only with ``code``.

    With ``place`` from that wheel file, its address, or a folder with it.

    Raises:
        UserError: No network, no such model, consent is missing, or no space.
        Cancelled: The user stopped; the next call goes on where this one was.
    """
    from sce_desktop.ml.hub import installing

    return installing.get(name, place=place, code=code, progress=progress)


def set_offline(offline: bool) -> None:
    """Forbid the hub's library the network, or allow it. It reads the variable once, when it is imported."""
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    else:
        os.environ.pop("HF_HUB_OFFLINE", None)
    if (constants := sys.modules.get("huggingface_hub.constants")) is not None:
        constants.HF_HUB_OFFLINE = offline  # type: ignore[attr-defined]


def is_here(name: str) -> bool:
    """Whether the model ``name``, as `get_model` takes it, need not be fetched any more."""
    from sce_desktop.ml.hub import model_places

    return model_places.fetched(name) is not None


def is_own(name: str) -> bool:
    """Whether ``name`` is one of the models that the user added or fetched."""
    return any(entry.name == name and not entry.bundled and not entry.package for entry in installed_models())


def fetched_so_far(name: str) -> int:
    """Return the bytes that an interrupted `get_model` has left to go on from."""
    from sce_desktop.ml.hub import installing

    return installing.fetched_so_far(name)


def name_of(path: Path) -> str:
    """Return what `add_model` calls the model in the folder or wheel file ``path`` unless told otherwise.

    Raises:
        UserError: It is a file, and no model's wheel.
    """
    from sce_desktop.ml.hub import model_packages

    path = path.expanduser().absolute()
    return model_packages.open_wheel(path).name if path.is_file() else path.name


def brings_code(folder: Path) -> bool:
    """Whether the model in ``folder`` has program code of its own, which a person must allow.

    Raises:
        UserError: It is no model folder.
    """
    from sce_desktop.ml.hub import folders

    return folders.brings_code(folder)


def add_model(
    folder: Path, *, name: str = "", code: bool = False, force: bool = False, progress: Progress
) -> Entry:
    """Copy the model in ``folder``, or in a wheel file, into the user's models.

    Raises:
        UserError: It is none, or there is no room.
    """
    from sce_desktop.ml.hub import installing

    return installing.add(folder, name=name, code=code, force=force, progress=progress)


def remove_model(name: str) -> None:
    """Delete one of the user's models. Raises UserError if it is not theirs."""
    from sce_desktop.ml.hub import installing

    installing.remove(name)


def verify_model(name: str, *, progress: Progress) -> Verified:
    """Compare a model's files with their hashes. Raises UserError if there is no such model."""
    from sce_desktop.ml.hub import catalog

    return catalog.verify(name, progress=progress)


def devices() -> tuple[Device, ...]:
    """Return what models can run on, and what they cannot with the reason. Importing torch takes seconds."""
    from sce_desktop.ml.hub import session

    return session.devices()
