"""The README.md of a model folder: what it is, and whatever who writes it knows of where it comes from."""

from __future__ import annotations

from pathlib import Path

_BEGINS = "A Soft Contextualized Encoder for [SCE Desktop](https://pypi.org/project/sce-desktop/):"
TEMPLATE = f"""---
{{{{ card_data }}}}
---

# {{{{ name }}}}

{_BEGINS} it sorts texts into
labels given at use. Load it with `SCEClassifier.from_pretrained` or `sce-desktop classify --model`.

{{{{ more }}}}
"""


def remove_ours(folder: Path) -> None:
    """Remove a card that was written by `TEMPLATE`; one that somebody wrote stays."""
    readme = folder / "README.md"
    if readme.is_file() and _BEGINS in readme.read_text(encoding="utf-8", errors="replace"):
        readme.unlink()
