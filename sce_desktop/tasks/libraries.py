"""Whether every library that the program uses can be imported: some are needed late, by one command alone."""

from __future__ import annotations

from importlib import import_module

from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress

# A module, or an object of one that makes its parts when they are asked for. tests/tasks/test_libraries.py
# compares them with what the program imports.
USED = (
    *(
        "PySide6.QtCore",
        "PySide6.QtDBus",
        "PySide6.QtGui",
        "PySide6.QtNetwork",
        "PySide6.QtWidgets",
        "shiboken6",
    ),
    *(
        "appdirs",
        "babel",
        "babel.dates",
        "babel.lists",
        "chardet",
        "cleanlab.filter",
        "clevercsv",
        "datasketch",
    ),
    *("fasttext", "huggingface_hub", "huggingface_hub.errors", "jinja2", "markupsafe"),
    *("numpy", "numpy.typing", "packaging.requirements", "packaging.utils", "pandas", "peft", "psutil"),
    *("pyarrow", "pyarrow.compute", "pyarrow.parquet", "python_calamine", "rapidfuzz.process", "regex"),
    *("safetensors", "safetensors.torch", "scipy.optimize", "scipy.sparse", "scipy.sparse.csgraph"),
    *("scipy.special", "scipy.stats", "sentence_transformers:SentenceTransformer"),
    *("sklearn.base", "sklearn.cluster", "sklearn.decomposition", "sklearn.exceptions"),
    *(
        "sklearn.feature_extraction.text",
        "sklearn.linear_model",
        "sklearn.metrics",
        "sklearn.model_selection",
    ),
    *("sklearn.utils", "sklearn.utils.multiclass", "sklearn.utils.validation"),
    *(
        "sqlalchemy",
        "sqlalchemy.dialects.sqlite",
        "sqlalchemy.pool",
        "stopwordsiso",
        "threadpoolctl",
        "tokenizers",
    ),
    *("torch", "torch.distributed", "torch.nn.attention", "torch.nn.functional", "tqdm"),
    *("transformers:AutoModel", "transformers:AutoModelForCausalLM", "transformers:AutoTokenizer"),
    *("transformers:TrainerCallback", "transformers:LlamaForCausalLM", "transformers:BertModel"),
    *("transformers:DebertaV2Model", "transformers.utils", "gguf", "xlsxwriter", "xlsxwriter.exceptions"),
    "xlsxwriter.worksheet",
)
# Optional parts, each with its own sentence where it is missing; and what a newer torch has.
OPTIONAL = (
    *("bitsandbytes", "datasets", "fsspec", "llama_cpp", "ray", "setfit", "umap"),
    "torch.nn.attention.varlen",
)


def unusable(progress: Progress) -> dict[str, str]:
    """Import every library, and return why by name of those that cannot be imported."""
    problems = {}
    for done, name in enumerate(USED):
        progress.report(done, len(USED), stage=_("importing libraries"))
        progress.check()
        module, _colon, part = name.partition(":")
        try:
            getattr(import_module(module), part or "__name__")
        except Exception as error:
            problems[name] = " ".join(str(error).split()) or type(error).__name__
    progress.report(len(USED), len(USED), stage=_("importing libraries"))
    return problems
