"""What MkDocs does beside its settings: the menu comes from docs/contents.md, as in the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sce_desktop.core.guide import CONTENTS, Entry, contents, slug


def on_config(config: Any) -> Any:
    """Take the menu from the contents, and the addresses of headings from the program."""
    entries = contents((Path(config.docs_dir) / CONTENTS).read_text(encoding="utf-8"))
    config.nav = [_nav(entry) for entry in entries]
    config.mdx_configs["toc"]["slugify"] = slug
    return config


def _nav(entry: Entry) -> dict[str, Any]:
    return {entry.title: entry.page or [_nav(page) for page in entry.pages]}
