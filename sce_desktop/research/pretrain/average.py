"""Averages several trainings from one start, moves part of the way back to it, refits the head.

Averages of fine-tuned weights, and points between start and end, do better on label sets never seen than any
single end (model soups, arXiv 2203.05482; WiSE-FT, arXiv 2109.01903). docs/research/model.md
has what it gave here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from sce_desktop.core.progress import Progress
from sce_desktop.ml.encoder.bert import TextEncoder, text_encoder_state
from sce_desktop.ml.sce.sce import SCE
from sce_desktop.research.pretrain.build import Builder
from sce_desktop.research.pretrain.config import PretrainConfig
from sce_desktop.research.pretrain.dual_encoder import TrainedDualEncoder
from sce_desktop.research.pretrain.train import Trainer
from sce_desktop.temporary import temporary_beside

_EMBEDDER, _HEAD = "embedder.", "head."


def save_member(trainer: Trainer, path: Path) -> None:
    """Keep the averaged weights of one finished training (float32), written aside then renamed."""
    assert isinstance(trainer.dual_encoder, TrainedDualEncoder)
    path.parent.mkdir(parents=True, exist_ok=True)
    if trainer.average is not None:
        trainer.average.swap()
    state = {f"{_EMBEDDER}{k}": v for k, v in trainer.dual_encoder.encoder.state_dict().items()}
    state |= {f"{_HEAD}{k}": v for k, v in trainer.head.state_dict().items()}
    with temporary_beside(path) as aside:
        save_file({k: v.detach().contiguous().cpu() for k, v in state.items()}, aside)
        aside.replace(path)
    if trainer.average is not None:
        trainer.average.swap()


def averaged(
    builder: Builder, config: PretrainConfig, members: Sequence[Path], progress: Progress
) -> tuple[TextEncoder, SCE, Trainer]:
    """Return the embedder, the head and the trainer that looked at them last.

    The embedder is start + interpolation (mean of members - start); the head is the members' mean, then
    trained for ``refit_steps`` on the finished embedder's vectors; 0 of them: it stays the mean.
    """
    assert builder.start is not None
    mean = _mean([load_file(path) for path in members])
    start = text_encoder_state(builder.start.state, builder.start.config)
    encoder = TextEncoder(builder.start.config)
    encoder.load_state_dict(
        {k: _between(v, mean[f"{_EMBEDDER}{k}"], config.average.interpolation) for k, v in start.items()}
    )
    encoder.to(builder.device)
    a = config.average
    optim = replace(
        config.optim, steps=a.refit_steps, head_learning_rate=a.refit_learning_rate, warmup=20, average=0.0
    )
    look = replace(config.run, validate_every=max(1, a.refit_steps), stop_after_minutes=0.0)
    refit = replace(config, optim=optim, run=look)
    head = builder.head(config)
    head.load_state_dict({k.removeprefix(_HEAD): v for k, v in mean.items() if k.startswith(_HEAD)})
    if not a.refit_steps:
        trainer = builder.finished(refit, encoder, head)
        trainer.trace.accuracies.append(trainer.validate())
        return encoder, head, trainer
    trainer = builder.head_trainer(refit, encoder, head)
    trainer.run(progress)
    return encoder, head, trainer


def _between(start: Tensor, end: Tensor, share: float) -> Tensor:
    return torch.lerp(start, end, share) if start.is_floating_point() else start


def _mean(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    # What is in 4-bit blocks was frozen: the same in all.
    return {
        k: torch.stack([s[k] for s in states]).mean(0) if v.dtype == torch.float32 else v
        for k, v in states[0].items()
    }
