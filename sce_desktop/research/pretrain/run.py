"""The whole way from a configuration file to a model folder; goes on where an earlier call stopped."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from sce_desktop.core.errors import UserError, already_there
from sce_desktop.core.progress import Progress
from sce_desktop.ml.hub import folders, model_places
from sce_desktop.ml.hub.session import choose_devices
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.research.pretrain.average import averaged, save_member
from sce_desktop.research.pretrain.build import Builder
from sce_desktop.research.pretrain.calibrate import SetScores, fit, leaving_each_out, measured, set_scores
from sce_desktop.research.pretrain.config import PretrainConfig, member_configs, read_config
from sce_desktop.research.pretrain.parallel import Followers, check_devices, led
from sce_desktop.research.pretrain.sets import TrainingData, read_training_data
from sce_desktop.research.pretrain.state import clear_state, load_state, save_state
from sce_desktop.research.pretrain.train import Trainer, summary
from sce_desktop.temporary import temporary_beside

_TRAINING = "training.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Trained:
    """How a call ended: ``finished`` is False where time was up and the next call goes on."""

    finished: bool
    seconds: float
    validation: dict[str, dict[str, float]]  # accuracy in per cent by set, last look


def run(
    config_path: Path,
    out: Path,
    *,
    device: str = "auto",
    progress: Progress,
    resume: bool = True,
    force: bool = False,
) -> Trained:
    """Train as ``config_path`` says and write the model folder ``out``, with ``training.json`` in it.

    On several devices (``device`` "cuda:all") each takes its share of every batch; the first one's process
    alone writes. The unfinished state lies beside ``out``; Ctrl+C keeps it. Raises UserError for a bad
    configuration, missing sets or models, a loss that is no longer finite, a device that fails, and, unless
    ``force``, where ``out`` is a model that was made otherwise.
    """
    started = time.monotonic()
    config = read_config(config_path)
    _check_replaceable(out, force=force)  # not only after hours of training
    base = config_path.resolve().parent
    work = out.parent / f".{out.name}.training"
    if not resume and work.exists():
        shutil.rmtree(work)
    progress.report(0, None, stage="Reading the sets")
    members = member_configs(config)
    chosen = choose_devices(device)
    for member in members.values():
        check_devices(member, len(chosen))
    builder = _builder(config, base, chosen[0])
    training_data = builder.training_data
    traces: dict[str, Any] = {}
    files = []
    for name, member in members.items():
        file = work / f"{name}.safetensors"
        files.append(file)
        trainer = None
        if not (config.average.members and file.exists()):
            trainer = builder.trainer(member, progress)
            followers = Followers(config_path, name, work / name, tuple(map(str, chosen)))
            if not _train(trainer, followers, _fingerprint(member, builder), progress):
                return Trained(False, time.monotonic() - started, _last(trainer))
            traces[name] = asdict(trainer.trace)
            if config.average.members:
                save_member(trainer, file)
            clear_state(work / name)
    if config.average.members:
        encoder, head, trainer = averaged(builder, config, files, progress)
        traces["average"] = asdict(trainer.trace)
        model = builder.native_model(encoder, head)
    else:
        assert trainer is not None
        if trainer.average is not None:
            trainer.average.swap()
        model = builder.model(trainer)
    calibrated = _calibrate(model.to(chosen[0]), training_data, progress)
    result = Trained(True, time.monotonic() - started, _last(trainer))
    _write(model.cpu(), out, config, traces | {"calibration": calibrated}, result)
    shutil.rmtree(work, ignore_errors=True)
    return result


def _check_replaceable(out: Path, *, force: bool) -> None:
    folders.check_free(out, folders.CONFIG, folders.SCE_TYPE)
    if not (out / folders.CONFIG).is_file():
        return
    model_places.check_not_installed(out)
    made = (out / _TRAINING).is_file() and not folders.read_json(out / folders.CONFIG).get("corrected")
    if not made and not force:
        raise already_there(out, "was not made by pretrain")


def _builder(config: PretrainConfig, base: Path, device: torch.device) -> Builder:
    pairs = any(member.mixture.pairs for member in member_configs(config).values())
    training_data = read_training_data(config.data, base, seed=config.optim.seed, pairs=pairs)
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    return Builder.from_config(config, training_data, base, device)


def member_trainer(config_path: Path, name: str, state: Path, device: torch.device) -> Trainer:
    """Return the trainer of a member on ``device``, where an earlier call stopped: for one that follows."""
    config = read_config(config_path)
    builder = _builder(config, config_path.resolve().parent, device)
    member = member_configs(config)[name]
    trainer = builder.trainer(member)
    load_state(trainer, state, fingerprint=_fingerprint(member, builder))
    return trainer


def _train(trainer: Trainer, followers: Followers, fingerprint: str, progress: Progress) -> bool:
    work = followers.state
    if load_state(trainer, work, fingerprint=fingerprint):
        _log.info("going on at step %d", trainer.step_number)

    def save() -> None:
        save_state(trainer, work, fingerprint=fingerprint)

    try:
        if len(followers.devices) < 2:
            return trainer.run(progress, save=save, log=_log.info)
        with led(trainer, followers, progress) as watched:
            return trainer.run(watched, save=save, log=_log.info)
    except UserError:
        raise
    except BaseException:  # stopped by the user or by a fault: the next call goes on from here
        if trainer.step_number:
            save()
        raise


def _calibrate(model: SCEModel, training_data: TrainingData, progress: Progress) -> dict[str, Any]:
    """Fit what makes probabilities of scores, and return how that did on sets left out."""
    sets: dict[str, SetScores] = {}
    looked_at: dict[str, SetScores] = {}
    for one in training_data.validation:
        progress.check()
        texts = [training_data.texts.strings[n] for n in one.texts]
        scores = set_scores(model, texts, [training_data.labels.strings[n] for n in one.labels], one.right)
        (sets if one.calibrates else looked_at)[one.name] = scores
    if not sets:
        return {}
    whole = fit(list(sets.values()))
    whole.apply_to(model)
    others = {name: measured(scores, whole) for name, scores in looked_at.items()}
    return leaving_each_out(sets) | others


def _write(
    model: SCEModel, out: Path, config: PretrainConfig, traces: dict[str, Any], result: Trained
) -> None:
    model.save_pretrained(out)
    facts = {
        "configuration": asdict(config),
        "members": traces,
        "validation": result.validation,
        "summary": summary(result.validation) if result.validation else "",
        "seconds": round(result.seconds, 1),
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
    }
    with temporary_beside(out / _TRAINING) as aside:
        aside.write_text(json.dumps(facts, indent=1), encoding="utf-8")
        aside.replace(out / _TRAINING)


def _fingerprint(config: PretrainConfig, builder: Builder) -> str:
    training_data = builder.training_data
    taught = builder.teacher.fingerprint if builder.teacher else ""
    facts = (
        repr(config),
        len(training_data.texts),
        len(training_data.labels),
        training_data.texts.strings[-1:],
        taught,
    )
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def _last(trainer: Trainer) -> dict[str, dict[str, float]]:
    return trainer.trace.accuracies[-1] if trainer.trace.accuracies else {}
