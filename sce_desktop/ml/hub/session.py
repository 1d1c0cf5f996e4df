"""The models in memory: loaded once, on the device that the user chose."""

from __future__ import annotations

import platform
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, any_of
from sce_desktop.core.models import Device
from sce_desktop.core.precision import AUTO
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.precision import choose_precision
from sce_desktop.ml.hub import catalog, known_models
from sce_desktop.ml.hub.known_models import DEFAULT_LLM
from sce_desktop.ml.llm.llm_folder import load_llm
from sce_desktop.ml.llm.prompted import PromptedLLM
from sce_desktop.ml.parallel.embedder import EmbedderPool, Workers
from sce_desktop.ml.parallel.pool import Opener
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.similarity import SimilarityModel

Loaded = SCEModel | SimilarityModel | PromptedLLM
MOST_LOADED_MODELS = 4
"""Models in memory; the one used longest ago makes room."""
TRIAL_SECONDS = 0.3
ALL_GPUS = "cuda:all"
MOST_CPU_PROCESSES = 64


def devices() -> tuple[Device, ...]:
    """Return the CPU and every GPU of this machine, the unusable ones too."""
    cpu = Device("cpu", platform.processor() or platform.machine(), True)
    if torch.backends.mps.is_available():
        return cpu, Device("mps", "Apple GPU", True)
    if torch.cuda.is_available():
        return (cpu, *with_all([_cuda(number) for number in range(torch.cuda.device_count())]))
    if shutil.which("nvidia-smi") or Path("/proc/driver/nvidia/version").exists():
        if torch.version.cuda is None:
            problem = _("the installed torch has no CUDA: install its CUDA build as pytorch.org shows")
        else:
            problem = _(
                "torch needs a driver for CUDA {version}: update the NVIDIA driver",
                version=torch.version.cuda,
            )
        return cpu, Device("cuda", "NVIDIA GPU", False, problem)
    return (cpu,)


def with_all(gpus: Sequence[Device]) -> tuple[Device, ...]:
    """Return ``gpus`` with all usable ones together behind them, where there are several."""
    usable = [one for one in gpus if one.usable]
    if len(usable) < 2:
        return tuple(gpus)
    names = Counter(one.description for one in usable)
    gpus = [_numbered(one, names[one.description]) for one in gpus]
    together = _("All GPUs ({names})", names=", ".join(f"{count} × {name}" for name, count in names.items()))
    memory = sum(one.memory for one in usable)
    return *gpus, Device(ALL_GPUS, together, True, "", memory)


def _numbered(gpu: Device, alike: int) -> Device:
    """Return ``gpu`` with its number in the description, where there are several ``alike``."""
    number = gpu.name.partition(":")[2] or "0"
    named = _("{name} (GPU {number})", name=gpu.description, number=number)
    return replace(gpu, description=named) if alike > 1 else gpu


def choose_devices(asked: str) -> tuple[torch.device, ...]:
    """Return the devices ``asked`` for: all usable GPUs for cuda:all, else what `choose_device` returns.

    ``cpu:N`` is N times the CPU, each with a process of its own: what several GPUs do, where there is none.

    Raises:
        UserError: One is not there or does not work.
    """
    if asked == ALL_GPUS:
        here = devices()
        gpus = [one.name for one in here if one.usable and one.name.startswith("cuda") and one.name != asked]
        return tuple(map(torch.device, gpus)) or (choose_device("cuda"),)
    kind, _colon, count = asked.partition(":")
    if kind == "cpu" and count.isdigit() and 0 < int(count) <= MOST_CPU_PROCESSES:
        return (torch.device("cpu"),) * int(count)
    return (choose_device(asked),)


def _cuda_number(asked: str) -> int | None:
    """Return the number of the GPU ``asked`` for, if it is there."""
    kind, _colon, text = asked.partition(":")
    number = int(text) if text.isdigit() else 0 if asked == kind else -1
    there = kind == "cuda" and torch.cuda.is_available() and 0 <= number < torch.cuda.device_count()
    return number if there else None


def _cuda(number: int) -> Device:
    facts = torch.cuda.get_device_properties(number)
    name = "cuda" if number == 0 else f"cuda:{number}"
    try:
        torch.ones(1, device=name).add(1).cpu()
    except RuntimeError:
        problem = _(
            "the installed torch has no code for {architecture}: install a build that has",
            architecture=f"sm_{facts.major}{facts.minor}",
        )
        return Device(name, facts.name, False, problem, facts.total_memory)
    return Device(name, facts.name, True, "", facts.total_memory)


def choose_device(asked: str = "auto") -> torch.device:
    """Return the device ``asked`` for: auto (a GPU that works, else the CPU), cpu, cuda, cuda:N or mps.

    Raises:
        UserError: It is not there or does not work.
    """
    if asked == "cpu":
        return torch.device("cpu")
    if asked == ALL_GPUS:
        return choose_devices(asked)[0]
    number = _cuda_number(asked)
    # No other GPU is tried: that would take memory on each of them.
    here = devices() if number is None else (_cuda(number),)
    if asked == "auto":
        best = next((d for d in here if d.usable and d.name != "cpu"), here[0])
        return torch.device(best.name)
    found = next((d for d in here if d.name == asked or (asked == "cuda:0" and d.name == "cuda")), None)
    if found is None:
        names = any_of(["auto", *(d.name for d in here if d.usable)])
        raise UserError(
            _("There is no device “{asked}” on this machine: choose {names}.", asked=asked, names=names)
        )
    if not found.usable:
        raise UserError(
            _("The device {asked} cannot be used: {problem}.", asked=asked, problem=found.problem)
        )
    return torch.device(found.name)


class ModelSession:
    """Models by name, loaded when first asked for. Belongs to one thread.

    Args:
        device: auto, cpu, cuda, cuda:N, cuda:all or mps.
        threads: Cores that torch may use in the whole program; None or 0 leaves that as it is.
        precision: auto, float32, bfloat16 or int8: what text embedders multiply in.
        allow_download: Fetch a hub id that is not here yet.

    Raises:
        UserError: The device is not there, or has no instructions for the precision.
    """

    def __init__(
        self,
        device: str = "auto",
        threads: int | None = None,
        *,
        precision: str = AUTO,
        allow_download: bool = False,
    ) -> None:
        chosen = choose_devices(device)
        self.device = chosen[0]  # of the models; text encoders work on the others too
        self.devices = tuple(map(str, chosen))
        self.precision = choose_precision(precision, self.device)
        self.allow_download = allow_download
        if threads:
            torch.set_num_threads(threads)
        self._models: dict[tuple[str, str], Loaded] = {}  # used longest ago first
        self._pools: list[EmbedderPool] = []
        self.workers: Callable[[Opener], Workers] | None = None  # elsewhere, for text encoders

    def model(self, name: str | Path = known_models.SCE_MINI) -> SCEModel | PromptedLLM:
        """Return the SCE called ``name``: a catalog name, a folder or a hub id; or an LLM, "llm:MODEL".

        Raises:
            UserError: It is not here, damaged, or no SCE; what was loaded before stays loaded.
        """
        if str(name).startswith("llm:"):
            return self._llm(str(name).removeprefix("llm:"))
        folder = catalog.resolve(name, allow_download=self.allow_download)
        key = ("sce", str(folder.resolve()))
        trusted = bool(catalog.load_options(name).get("trust_remote_code"))
        model = self._models.pop(key, None) or SCEModel.from_pretrained(
            folder, device=self.device, precision=self.precision, trust_remote_code=trusted
        )
        assert isinstance(model, SCEModel)
        self._keep(key, model)
        return model

    def baseline(self, spec: str = "similarity") -> SimilarityModel | PromptedLLM:
        """Return the baseline ``spec``: "similarity" or "llm", or with a model as in "similarity:MODEL".

        Raises:
            UserError: There is no such baseline, or its model is not here or damaged.
        """
        kind, _colon, name = spec.partition(":")
        if kind == "llm":
            return self._llm(name)
        if kind != "similarity":
            raise UserError(
                _("There is no baseline “{spec}”: use similarity, llm, or KIND:MODEL.", spec=spec)
            )
        name = name or known_models.MINILM
        key = ("similarity", name)
        model = self._models.pop(key, None) or SimilarityModel.from_pretrained(
            name, allow_download=self.allow_download, device=self.device, precision=self.precision
        )
        assert isinstance(model, SimilarityModel)
        self._keep(key, model)
        return model

    def _llm(self, name: str) -> PromptedLLM:
        name = name or DEFAULT_LLM
        key = ("llm", name)
        model = self._models.pop(key, None) or load_llm(name, device=self.device)
        assert isinstance(model, PromptedLLM)
        self._keep(key, model)
        return model

    def _keep(self, key: tuple[str, str], model: Loaded) -> None:
        embedder = model.text_embedder if isinstance(model, SCEModel) else getattr(model, "embedder", None)
        several = len(self.devices) > 1 or self.workers is not None
        if several and isinstance(embedder, NativeEmbedder) and embedder.pool is None:
            embedder.pool = EmbedderPool(self.devices, self.workers)
            self._pools.append(embedder.pool)
        self._models[key] = model
        while len(self._models) > MOST_LOADED_MODELS:
            del self._models[next(iter(self._models))]

    def rest(self) -> None:
        """End the worker processes on several devices, until they are needed again."""
        for pool in self._pools:
            pool.rest()

    def unload(self) -> None:
        """Forget all models and give their memory back."""
        self.rest()
        self._models.clear()
        self._pools.clear()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def estimate(
        self,
        model: Loaded,
        rows: int,
        mean_tokens: float,
        labels: int,
        *,
        cached: int = 0,
    ) -> float:
        """Return about how many seconds ``model`` will need, from a trial of half a second.

        Args:
            model: What will score.
            rows: Rows to score.
            mean_tokens: Tokens of a mean row.
            labels: Number of labels.
            cached: Rows whose vectors are in the cache already.
        """
        if isinstance(model, PromptedLLM):
            names = [Label(f"label {i}") for i in range(max(labels, 2))]
            return rows * model.seconds_a_row(["a " * int(max(mean_tokens, 1))] * 2, names)
        embedder = model.text_embedder if isinstance(model, SCEModel) else model.embedder
        tokens = int(min(max(mean_tokens - 2, 1), embedder.max_tokens))
        embed = _seconds_each(lambda n: embedder.encode(["a " * tokens] * n))
        some = np.random.default_rng(0).standard_normal((4096, embedder.dim)).astype(np.float32)
        some /= np.linalg.norm(some, axis=1, keepdims=True)
        if isinstance(model, SCEModel):
            names = [Label(f"label {i}") for i in range(labels)]
            model.score(some[:1], names)  # the label pass is paid once
            score = _seconds_each(lambda n: model.score(some[:n], names), most=len(some))
        else:
            score = 0.0  # a matrix product
        return embed * (rows - cached) + score * rows


def _seconds_each(run: Callable[[int], object], *, most: int = 4096) -> float:
    """Return the seconds that ``run(n)`` takes for one of n, with ever larger n for `TRIAL_SECONDS`."""
    n, spent = 1, 0.0
    run(n)  # the first call sets up buffers
    while True:
        start = time.perf_counter()
        run(n)
        took = time.perf_counter() - start
        spent += took
        if spent > TRIAL_SECONDS or n == most:
            return took / n
        n = min(4 * n, most)
