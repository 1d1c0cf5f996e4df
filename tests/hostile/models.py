"""Model folders that mean ill, each made by a script from a tiny random model that is whole.

``python -m tests.hostile models``: each is added to an empty folder of models, loaded and used to classify
in a child process. It must come to one sentence, or to scores where it is harmless, with 10 seconds of the
processor and 1 GiB of memory beyond what the process had.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import tempfile
from pathlib import Path

from tests.hostile import (  # noqa: F401 - each registers its cases
    configured_models,
    language_models,
    linked_models,
    tokenizing_models,
    weighted_models,
)
from tests.hostile.child import in_child
from tests.hostile.model_cases import CASES, Builder, seeds

HARMLESS = {"hub-snapshot", "link-inside", "duplicate-keys", "pickle-beside", "dot-files"}
"""What must be accepted."""


def spec(folder: Path) -> tuple[str, str]:
    """Return how the model is used: ("model" or "baseline", its name)."""
    name = folder.name
    if "llm" in name or "gguf" in name:
        return "baseline", f"llm:{folder}"
    if "text" in name or "cls" in name:
        return "baseline", f"similarity:{folder}"
    return "model", str(folder)


def meet(build: Builder, place: Path) -> str:
    """Add, load and use what ``build`` makes; return in a word or a sentence what each came to."""
    from sce_desktop.cli import main
    from sce_desktop.core.errors import UserError
    from sce_desktop.ml.hub import catalog, installing

    place.mkdir()
    folder = build(place)
    said: list[str] = []
    try:
        installing.add(folder, name="added", models_dir=place / "models")
        said.append("added")
    except UserError as error:
        said.append(one_sentence(str(error)))
    catalog.list_models(place / "models")
    table = place / "table.csv"
    table.write_text("text\nThe parcel came late\naaaaaaaaaaaaaaaaaaaa\n", encoding="utf-8")
    kind, name = spec(folder)
    options = ["--model", name] if kind == "model" else ["--baseline", name]
    errors = place / "errors.txt"
    with errors.open("w", encoding="utf-8") as stream:  # noqa: SIM117 - redirected to it
        with contextlib.redirect_stderr(stream), contextlib.redirect_stdout(io.StringIO()):
            labels = ["--label", "late", "--label", "damaged"]
            code = main(
                ["classify", str(table), "--text", "text", *labels, *options, "-o", str(place / "out.csv")]
            )
    written = errors.read_text(encoding="utf-8")
    assert "Traceback" not in written, written
    if code:
        said.append(one_sentence([line for line in written.splitlines() if line.strip()][-1]))
    else:
        said.append("scored")
    return "\n".join(said)


def one_sentence(message: str) -> str:
    """Return ``message``; raises AssertionError unless it is a sentence or two in one line."""
    assert "\n" not in message, f"several lines: {message!r}"
    assert message.rstrip().endswith((".", "?")), f"no sentence: {message!r}"
    assert len(message) < 1_000, f"{len(message)} characters"
    return message


def load_ours() -> None:
    """Import what is needed to use models that run natively, so that a child need not."""
    import sce_desktop.ml.hub.session
    import sce_desktop.ml.sce.model_check
    import sce_desktop.tasks.scoring.classify  # noqa: F401


def load_everything() -> None:
    """Import what is needed to use models of every kind."""
    load_ours()
    import peft  # noqa: F401
    import sentence_transformers  # noqa: F401
    import transformers.models.bert.modeling_bert
    import transformers.models.llama.modeling_llama  # noqa: F401


def main(arguments: list[str]) -> int:
    """Meet all of them, or those named; print what each came to."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile models")
    parser.add_argument("names", nargs="*", help="which (all)")
    args = parser.parse_args(arguments)
    load_everything()
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        os.environ["SCE_DESKTOP_HOME"] = str(root / "home")
        seeds(root / "seeds")
        for name, build in CASES.items():
            if args.names and name not in args.names:
                continue
            ended = in_child(lambda build=build, name=name: meet(build, root / name))  # type: ignore[misc]
            good = ended.how == "returned" and (name not in HARMLESS or ended.text == "added\nscored")
            bad += not good
            text = ended.text if good else ended.text[-1500:]
            print("ok " if good else "BAD", f"{name:26}", ended.how, f"{ended.seconds:.1f} s", end="  ")
            print(f"{ended.megabytes} MiB ", text.replace("\n", " | " if good else "\n"), flush=True)
            shutil.rmtree(root / name, ignore_errors=True)
    print(f"{bad} of {len(args.names) or len(CASES)} ended badly")
    return 1 if bad else 0
