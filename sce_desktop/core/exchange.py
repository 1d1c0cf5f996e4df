"""The formats of other annotation tools: their names, endings, and what each does not keep."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sce_desktop.core.i18n import N_

INTERFACE_ENDING: Final = ".interface.xml"


class Exchange(StrEnum):
    """The formats of other tools, as ``--format`` names them."""

    LABEL_STUDIO = "label-studio"
    DOCCANO = "doccano"
    ARGILLA = "argilla"
    HUGGINGFACE = "huggingface"
    QDA_XML = "qda-xml"
    CODEBOOK = "qdc"


@dataclass(frozen=True, slots=True)
class Format:
    """What is to be known of a format. ``not_kept``: a sentence, for whoever exports."""

    title: str
    ending: str
    not_kept: str


FORMATS: Final[dict[Exchange, Format]] = {
    Exchange.LABEL_STUDIO: Format(
        N_("Label Studio (JSON)"),
        ".json",
        N_("Not kept: descriptions, synonyms and shortcuts of labels, baselines, what cells were (numbers)."),
    ),
    Exchange.DOCCANO: Format(
        N_("Doccano (JSON Lines)"),
        ".jsonl",
        N_(
            "Not kept: predictions, other annotators, skipped rows, rows that no label fits, flags, times of "
            "labelling, details of labels."
        ),
    ),
    Exchange.ARGILLA: Format(
        N_("Argilla (JSON)"),
        ".json",
        N_("Not kept: details of labels, baselines, what cells were (numbers)."),
    ),
    Exchange.HUGGINGFACE: Format(
        N_("Hugging Face datasets (Parquet)"),
        ".parquet",
        N_("Not kept: other annotators, flags, times of labelling, details of labels, baselines."),
    ),
    Exchange.QDA_XML: Format(
        N_("QDA-XML project (REFI-QDA)"),
        ".qdpx",
        N_("Not kept: predictions, flags, skipped rows, synonyms and shortcuts of labels."),
    ),
    Exchange.CODEBOOK: Format(
        N_("QDA-XML codebook"),
        ".qdc",
        N_("A codebook has the labels alone. Not kept: their synonyms and shortcuts."),
    ),
}
