"""What a fine-tune tries is what its estimate counts on, and is known without torch."""

from __future__ import annotations

import subprocess
import sys

from sce_desktop.ml.finetune.recipes import FOLDS, FOLDS_FOR_MANY, MANY, RECIPES, RECIPES_FOR_MANY, choices


def test_many_rows_or_labels_get_fewer_recipes_on_fewer_folds() -> None:
    assert choices(MANY // 10 - 1, 10) == (RECIPES, FOLDS)
    assert choices(MANY // 10, 10) == (RECIPES_FOR_MANY, FOLDS_FOR_MANY)
    assert len(RECIPES_FOR_MANY) < len(RECIPES)
    assert FOLDS_FOR_MANY < FOLDS


def test_an_estimate_needs_no_torch() -> None:
    code = "import sys, sce_desktop.tasks.training; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
