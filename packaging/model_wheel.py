"""Makes the data-only wheel of a model: ``python packaging/model_wheel.py sce-multi [-o dist]``.

The wheel holds the folder of models/ with a manifest of SHA-256s and the licences of what the model was made
from, and nothing that runs: sce_desktop/ml/hub/model_packages.py finds it. packaging/models.toml names them.
The same files give the same bytes; their time is SOURCE_DATE_EPOCH, or hatchling's own fixed one.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sce_desktop.core.errors import UserError  # noqa: E402 - of the checkout that this lies in
from sce_desktop.ml.hub import folders, manifest, model_packages  # noqa: E402

NOT_SHIPPED = shutil.ignore_patterns(".*", "__pycache__", manifest.MANIFEST)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = {name}
version = {version}
description = {summary}
readme = "README.md"
license = {licence}
license-files = ["NOTICE"]
requires-python = ">=3.11"
keywords = ["sce-desktop", "model", "text classification"]

[tool.hatch.build.targets.wheel]
only-include = [{namespace}]
"""


def read_models() -> dict[str, dict[str, Any]]:
    """Return what models.toml says, by model."""
    with (ROOT / "packaging" / "models.toml").open("rb") as file:
        return tomllib.load(file)


def frozen_models() -> list[Path]:
    """Return the folders of the models that the frozen program takes."""
    return [ROOT / "models" / name for name, facts in read_models().items() if facts.get("frozen")]


def build(folder: Path, facts: dict[str, Any], out: Path) -> Path:
    """Write the wheel of the model in ``folder`` to the folder ``out`` and return it.

    Args:
        folder: Its name is the model's.
        facts: ``version``, ``summary``, ``notices``, ``without``, as models.toml has them.
        out: Made if it is not there.

    Raises:
        UserError: It is no model, its weights are not those that its config.json names, or a fact is missing.
    """
    from hatchling.builders.wheel import (
        WheelBuilder,
    )  # PyInstaller's recipe, which reads this file, needs none

    name = folder.name
    if missing := [key for key in ("version", "summary", "notices") if not facts.get(key)]:
        raise UserError(f"packaging/models.toml does not say {missing[0]} of {name}: add it.")
    if folders.kind_of(folder) != "sce":
        raise UserError(f"{folder} is no SCE model: only those become packages.")
    check_weights(folder)
    with tempfile.TemporaryDirectory() as place:
        project = Path(place)
        inside = project / model_packages.NAMESPACE / name
        shutil.copytree(folder, inside, ignore=NOT_SHIPPED)
        for file in facts.get("without", []):
            (inside / file).unlink()
        notices = [ROOT / "packaging" / "notices" / notice for notice in facts["notices"]]
        text = "\n\n".join(notice.read_text(encoding="utf-8") for notice in notices)
        for notice in (
            project / "NOTICE",
            inside / "NOTICE",
        ):  # for pip, and for whoever has the folder alone
            notice.write_text(text, encoding="utf-8", newline="\n")
        card = (folder / "README.md").read_text(encoding="utf-8")
        (project / "README.md").write_text(_FRONT_MATTER.sub("", card), encoding="utf-8", newline="\n")
        manifest.write(inside, {"name": name, "version": facts["version"]})
        text = PROJECT.format(
            name=json.dumps(model_packages.distribution_name(name)),
            version=json.dumps(facts["version"]),
            summary=json.dumps(facts["summary"]),
            licence=json.dumps(licence_of(folder)),
            namespace=json.dumps(model_packages.NAMESPACE),
        )
        (project / "pyproject.toml").write_text(text, encoding="utf-8")
        (wheel,) = WheelBuilder(str(project)).build(directory=str(project / "made"), versions=["standard"])
        model_packages.open_wheel(Path(wheel))  # what the program will read
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, out / Path(wheel).name))


def check_weights(folder: Path) -> None:
    """Refuse weights that are not those which config.json names. Raises UserError."""
    stated = folders.read_json(folder / folders.CONFIG).get("weights_sha256")
    expected = stated if isinstance(stated, dict) else {folders.WEIGHTS: stated}
    for file in folders.weight_files(folder):
        if not (folder / file).is_file() or folders.file_sha256(folder / file) != expected.get(file):
            raise UserError(
                f"{folder / file} is missing or not the file that config.json names: get it again."
            )


def licence_of(folder: Path) -> str:
    """Return the SPDX name that the model's card states. Raises UserError if it states none."""
    card = folder / "README.md"
    found = re.search(r"^license:\s*(\S+)", card.read_text(encoding="utf-8") if card.is_file() else "", re.M)
    if found is None:
        raise UserError(f"{card} states no licence: add a line “license:” at its top.")
    return {"mit": "MIT", "apache-2.0": "Apache-2.0"}.get(found[1].lower(), found[1])


def main() -> None:
    """Build the wheel asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a folder of models/")
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "dist", help="where the wheel goes")
    args = parser.parse_args()
    models = read_models()
    try:
        if "version" not in models.get(args.model, {}):
            raise UserError(
                f"packaging/models.toml has no package {args.model}: add its version and notices."
            )
        wheel = build(ROOT / "models" / args.model, models[args.model], args.out)
    except UserError as error:
        sys.exit(f"Error: {error}")
    print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
