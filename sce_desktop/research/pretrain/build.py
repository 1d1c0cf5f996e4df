"""Puts a trainer together from a configuration: start weights, token lists, head, sampler."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import nn

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.ml.encoder.bert import TextEncoder, label_encoder_state, text_encoder_state
from sce_desktop.ml.encoder.embedder import Embedder
from sce_desktop.ml.encoder.published import load_embedder
from sce_desktop.ml.encoder.quantised import unpacked
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import ModelConfig, YesNo
from sce_desktop.ml.sce.sce import SCE, SCEConfig, mean_token_embeddings
from sce_desktop.research.pretrain.config import PretrainConfig, member_configs
from sce_desktop.research.pretrain.dual_encoder import (
    DualEncoder,
    FrozenDualEncoder,
    TokenLists,
    TrainedDualEncoder,
    encode_all,
)
from sce_desktop.research.pretrain.sampler import Sampler
from sce_desktop.research.pretrain.sets import TrainingData
from sce_desktop.research.pretrain.start import Start, find, read_start
from sce_desktop.research.pretrain.teacher import Teacher, frozen
from sce_desktop.research.pretrain.train import Before, Trainer, use_half


@dataclass(frozen=True)
class Builder:
    """Makes trainers over the same sets and start weights; ``tokens`` are made once."""

    config: PretrainConfig
    training_data: TrainingData
    base: Path
    device: torch.device
    start: Start | None  # of the embedder, where it is a BERT-like model of which all is known
    labels: Start  # of the label encoder
    tokens: TokenLists | None
    embedder: Embedder | None  # where it stays frozen
    teacher: Teacher | None = None

    @classmethod
    def from_config(
        cls, config: PretrainConfig, training_data: TrainingData, base: Path, device: torch.device
    ) -> Builder:
        """Read the start weights. Raises UserError where the configuration asks for what does not go."""
        m = config.model
        if m.train_embedder and m.label_encoder:
            raise UserError("An embedder that is trained shares its own token table: remove label_encoder.")
        if m.score_scale <= 0 or (m.score_scale != 1.0 and m.architecture != "paper"):
            raise UserError('score_scale is a number above 0, and only for architecture = "paper".')
        if m.says_none and m.architecture != "plus":
            raise UserError('Yes/no scores are made of cosines: says_none needs architecture = "plus".')
        _check_teacher(config)
        labels = read_start(m.label_encoder or m.embedder, base)
        if not m.train_embedder:
            embedder = load_embedder(
                find(m.embedder, base), name=m.embedder, device=device, **catalog.load_options(m.embedder)
            )
            return cls(config, training_data, base, device, None, labels, None, embedder)
        strings = [*training_data.texts.strings, *training_data.labels.strings]
        tokens = _tokens(labels.tokenizer, strings, config.data.max_tokens, device)
        teacher = None
        if config.data.teacher:
            folder = find(config.data.teacher, base)
            teacher = Teacher.load(folder, training_data, max_tokens=config.data.max_tokens, device=device)
        return cls(config, training_data, base, device, labels, labels, tokens, None, teacher)

    def trainer(self, config: PretrainConfig, progress: Progress | None = None) -> Trainer:
        """Return a trainer at step 0 for ``config``, which may differ in everything but data and start."""
        torch.manual_seed(config.optim.seed)
        if self.start is None:
            frozen = self._frozen(config, progress or SilentProgress())
            return self.assemble(config, self.head(config), frozen)
        encoder = TextEncoder(self.start.config, dropout=config.model.dropout)
        encoder.load_state_dict(text_encoder_state(self.start.state, self.start.config))
        encoder.to(self.device).eval()
        if isinstance(encoder.tokens, nn.Embedding):  # one in 4-bit blocks stays as it is
            encoder.tokens.weight.requires_grad_(config.model.train_token_table)
        if encoder.config.relative_attention_num_buckets:  # else every attention matrix would be kept
            encoder.distances.weight.requires_grad_(False)
        dual_encoder = TrainedDualEncoder(encoder, self._known_tokens, len(self.training_data.texts))
        before = None
        if config.optim.keep_loss:
            before = Before(*encode_all(dual_encoder, half=use_half(config, self.device)))
        return self.assemble(config, self.head(config), dual_encoder, encoder=encoder, before=before)

    def finished(self, config: PretrainConfig, encoder: TextEncoder, head: SCE) -> Trainer:
        """Return a trainer that has nothing left to train, to look at the validation sets with."""
        encoder.requires_grad_(False).eval()
        dual_encoder = TrainedDualEncoder(encoder, self._known_tokens, len(self.training_data.texts))
        return self.assemble(config, head, dual_encoder)

    def head_trainer(self, config: PretrainConfig, encoder: TextEncoder, head: SCE) -> Trainer:
        """Return a trainer of ``head`` alone over the vectors of a finished, now frozen ``encoder``."""
        encoder.requires_grad_(False).eval()
        trained = TrainedDualEncoder(encoder, self._known_tokens, len(self.training_data.texts))
        return self.assemble(config, head, frozen(trained, half=use_half(config, self.device)))

    def assemble(
        self,
        config: PretrainConfig,
        head: SCE,
        dual_encoder: DualEncoder,
        *,
        encoder: nn.Module | None = None,
        before: Before | None = None,
    ) -> Trainer:
        """Return the trainer of these parts."""
        sampler = Sampler(
            self.training_data.train,
            self.training_data.glosses,
            config.mixture,
            pairs=self.training_data.pairs if config.mixture.pairs else None,
            free=self.training_data.free if config.mixture.free_labels else None,
            written=self.training_data.written if config.mixture.written else None,
            broader=self.training_data.broader if config.mixture.broader else None,
            dictionary=self.training_data.dictionary if config.mixture.dictionary else (),
            translations=self.training_data.translations if config.mixture.translated else None,
            taught=self.teacher.taught if self.teacher and config.mixture.taught else None,
            others=self.training_data.others,
            weights=config.data.weights,
            seed=config.optim.seed,
        )
        return Trainer(
            config,
            head,
            dual_encoder,
            sampler,
            encoder=encoder,
            validation=self.training_data.validation,
            before=before,
            teacher=self.teacher,
            device=self.device,
        )

    def model(self, trainer: Trainer) -> SCEModel:
        """Return what ``trainer`` trained as a whole model, on the CPU."""
        name, head = self.config.model.name, trainer.head.cpu()
        if isinstance(trainer.dual_encoder, TrainedDualEncoder):
            return self.native_model(trainer.dual_encoder.encoder, head)
        embedder = self.config.model.embedder
        allowed = {k: v for k, v in catalog.load_options(embedder).items() if k != "trust_remote_code"}
        described = {"kind": "sentence-transformers", "model": embedder, **allowed}
        bits = self.config.model.weight_bits
        config = ModelConfig(name, head.config, described, token_table="own", weight_bits=bits)
        table = nn.Embedding.from_pretrained(_token_table(self.labels))
        assert self.embedder is not None
        return SCEModel(
            config, self.embedder, head, label_tokens=table, label_tokenizer=self.labels.tokenizer
        )

    def native_model(self, encoder: TextEncoder, head: SCE) -> SCEModel:
        """Return encoder and head as a whole model, on the CPU."""
        yes_no = YesNo(1.0, 0.0) if head.config.says_none else YesNo()
        m = self.config.model
        config = ModelConfig.native(
            m.name, head.config, encoder.config, yes_no=yes_no, weight_bits=m.weight_bits
        )
        return SCEModel(config, encoder.cpu(), head.cpu(), self.labels.tokenizer)

    @property
    def _known_tokens(self) -> TokenLists:
        assert self.tokens is not None
        return self.tokens

    def head(self, config: PretrainConfig) -> SCE:
        """Return an untrained head: the first layers of the label encoder, a random adaptor."""
        m, shape = config.model, self.labels.config
        layers = m.layers or shape.num_hidden_layers
        width = shape.hidden_size if self.embedder is None else self.embedder.dim
        head = SCE(
            SCEConfig(
                architecture=m.architecture,
                attention=m.attention,
                text_width=width,
                layers=layers,
                alpha=m.alpha,
                says_none=m.says_none,
                encoder=replace(shape, num_hidden_layers=layers),
            ),
            dropout=m.dropout,
        )
        head.load_state_dict(label_encoder_state(self.labels.state, layers), strict=False)
        if m.score_scale != 1.0:
            head.scale_scores(m.score_scale)
        return head.to(self.device)

    def _frozen(self, config: PretrainConfig, progress: Progress) -> FrozenDualEncoder:
        # Vectors are computed once and reused in every epoch, as in the paper.
        assert self.embedder is not None
        names = self.training_data.labels.strings
        texts = torch.from_numpy(self.embedder.encode(self.training_data.texts.strings, progress=progress))
        ids = [e.ids for e in self.labels.tokenizer.encode_batch_fast(names, add_special_tokens=False)]
        tokens = mean_token_embeddings(_token_table(self.labels), ids)
        sentence = None
        if config.model.architecture == "plus":
            sentence = torch.from_numpy(self.embedder.encode(names, progress=progress)).to(self.device)
        return FrozenDualEncoder(texts.half().to(self.device), tokens.to(self.device), sentence)


def _check_teacher(config: PretrainConfig) -> None:
    members = member_configs(config).values()
    asked = any(member.optim.teacher_loss or member.mixture.taught for member in members)
    if config.data.teacher and not config.model.train_embedder:
        raise UserError("Only an embedder that is trained learns from a teacher: set model.train_embedder.")
    if asked and not config.data.teacher:
        raise UserError("teacher_loss and taught need a teacher: name its folder as data.teacher.")
    if any(member.mixture.taught and not member.optim.teacher_loss for member in members):
        raise UserError("Groups that the teacher picks teach by optim.teacher_loss alone: set it too.")


def _tokens(tokenizer: Tokenizer, strings: list[str], limit: int, device: torch.device) -> TokenLists:
    tokenizer.enable_truncation(limit)
    return TokenLists([e.ids for e in tokenizer.encode_batch_fast(strings)], device=device)


def _token_table(start: Start) -> torch.Tensor:
    state = text_encoder_state(start.state, start.config)
    if start.config.token_bits:
        return unpacked(state["tokens.blocks"], state["tokens.scales"])
    return state["tokens.weight"]
