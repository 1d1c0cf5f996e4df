"""SetFit beside our fine-tune: the `setfit` library as it comes, on the similarity baseline's embedder.

Needed by `benchmark --few-shot --setfit` alone: the extra ``setfit``.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import Progress
from sce_desktop.ml.llm.llm_gguf import quiet_transformers
from sce_desktop.research.few_shot_learning import Draw, Space
from sce_desktop.temporary import temporary_folder

log = logging.getLogger(__name__)


def check_setfit() -> None:
    """Refuse where the library is not installed.

    Raises:
        UserError: It is not.
    """
    if importlib.util.find_spec("setfit") is None:
        raise UserError("SetFit is not installed here: run pip install 'sce-desktop[setfit]'.")


class SetFit:
    """Answers by SetFit with its own defaults: one epoch of all pairs, batch 16, then logistic regression.

    A learner of `few_shot_learning` that looks at the texts themselves: it trains the embedder, so vectors
    made before are of no use.

    Args:
        folder: A sentence-transformers folder, where every draw starts from.
        texts: Of the labelled set.
    """

    def __init__(self, folder: Path, texts: Sequence[str]) -> None:
        self.folder = folder
        self.texts = texts

    def __call__(self, space: Space, draw: Draw, progress: Progress) -> IdArray:
        """Return the labels of the rows to measure by."""
        unheard = io.StringIO()  # the library prints its losses, bars and advice, whatever its settings
        try:
            with (
                temporary_folder() as scratch,
                contextlib.redirect_stdout(unheard),
                contextlib.redirect_stderr(unheard),
            ):
                model = self._trained(draw, scratch, progress)
                progress.check()
                answers: IdArray = model.predict(
                    [self.texts[place] for place in draw.test], as_numpy=True, show_progress_bar=False
                )
        except Cancelled:
            raise
        except Exception:
            log.error("SetFit failed; it had said:\n%s", unheard.getvalue())
            raise
        return answers

    def _trained(self, draw: Draw, scratch: Path, progress: Progress) -> Any:
        import datasets
        import setfit
        import torch
        from transformers import TrainerCallback

        class Stop(TrainerCallback):
            """Lets the user stop at every step."""

            def on_step_end(self, *_: Any, **__: Any) -> None:
                progress.check()

        quiet_transformers()
        datasets.disable_progress_bars()
        logging.getLogger("setfit").setLevel(logging.ERROR)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = setfit.SetFitModel.from_pretrained(str(self.folder), local_files_only=True, device=device)
        trainer = setfit.Trainer(
            model=model,
            args=setfit.TrainingArguments(
                output_dir=str(scratch),
                seed=draw.seed,
                report_to="none",
                save_strategy="no",
                logging_strategy="no",
                show_progress_bar=False,
            ),
            train_dataset=datasets.Dataset.from_dict(
                {"text": [self.texts[place] for place in draw.train], "label": draw.gold.tolist()}
            ),
            callbacks=[Stop()],
        )
        trainer.train()
        return model
