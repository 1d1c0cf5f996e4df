"""The bundled label sets, and what they are called."""

from __future__ import annotations

from pathlib import Path

from sce_desktop import paths
from sce_desktop.core.i18n import _

_NAMES = {
    "banking_intents": _("Banking intents"),
    "emotions": _("Emotions"),
    "news_sections": _("News sections"),
    "product_reviews": _("Product reviews"),
    "reasons_for_leaving": _("Reasons for leaving"),
    "sentiment": _("Sentiment"),
    "support_tickets": _("Support tickets"),
    "urgency": _("Urgency"),
    "workplace_survey": _("Workplace survey"),
}


def templates() -> list[Path]:
    """Return the files of the bundled label sets."""
    return sorted((paths.resources_dir() / "templates").glob("*.json"))


def template_name(path: Path) -> str:
    """Return what a template is called; of any other file its own name."""
    return _NAMES.get(path.stem, path.stem)
