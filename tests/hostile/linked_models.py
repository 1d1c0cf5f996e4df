"""Model folders with links out of them, files that are none, and too many of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.hostile.model_cases import CASES, SEEDS, case, link

case("sce", "link-weights-to-passwd")(lambda m: link(m, "model.safetensors", "/etc/passwd"))
case("sce", "link-config-to-zero")(lambda m: link(m, "config.json", "/dev/zero"))
case("sce", "link-weights-to-zero")(lambda m: link(m, "model.safetensors", "/dev/zero"))
case("text", "link-modules-to-zero")(lambda m: link(m, "modules.json", "/dev/zero"))
case("sce", "link-loop")(lambda m: link(m, "tokenizer.json", "tokenizer.json"))
case("sce", "link-dangling")(lambda m: link(m, "README.md", "nowhere"))
case("sce", "link-to-folder")(lambda m: link(m, "more", "/etc"))
case("sce", "link-inside")(lambda m: link(m, "LICENSE.txt", "README.md"))


@case("sce", "link-up")
def _link_up(model: Path) -> None:
    (model.parent / "secret.txt").write_text("secret", encoding="utf-8")
    link(model, "notes.txt", "../secret.txt")


@case("sce", "link-nested")
def _link_nested(model: Path) -> None:
    (model / "a" / "b").mkdir(parents=True)
    (model / "a" / "b" / "weights.json").symlink_to("/etc/hostname")


@case("sce", "link-chain")
def _link_chain(model: Path) -> None:
    (model / "one.txt").symlink_to("two.txt")
    (model / "two.txt").symlink_to("../../../../../../../../etc/hostname")


def _snapshot(folder: Path, outside: bool) -> Path:
    cache = folder / "models--somebody--tiny"
    (cache / "blobs").mkdir(parents=True)
    snapshot = cache / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    for number, file in enumerate(sorted(p for p in SEEDS["sce"].iterdir() if p.is_file())):
        blob = cache / "blobs" / f"{number:040x}"
        shutil.copy(file, blob)
        (snapshot / file.name).symlink_to(Path("../../blobs") / blob.name)
    if outside:
        link(snapshot, "README.md", "../../../../../../../../etc/hostname")
    return snapshot


CASES["hub-snapshot"] = lambda folder: _snapshot(folder, outside=False)
CASES["hub-snapshot-out"] = lambda folder: _snapshot(folder, outside=True)


@case("sce", "fifo-config")
def _fifo(model: Path) -> None:
    (model / "config.json").unlink()
    os.mkfifo(model / "config.json")


@case("sce", "fifo-beside")
def _fifo_beside(model: Path) -> None:
    os.mkfifo(model / "vocab.json")


@case("sce", "socket")
def _socket(model: Path) -> None:
    import socket

    here = Path.cwd()
    os.chdir(model)  # the path of a socket has 107 characters at most
    try:
        socket.socket(socket.AF_UNIX).bind("a.json")
    finally:
        os.chdir(here)


@case("sce", "many-files")
def _many_files(model: Path) -> None:
    (model / "more").mkdir()
    for number in range(10_100):
        (model / "more" / f"{number}").touch()


@case("sce", "deep-folders")
def _deep_folders(model: Path) -> None:
    (model / "/".join("abcdefghijklmno")).mkdir(parents=True)
    (model / "/".join("abcdefghijklmno") / "x.json").write_text("{}", encoding="utf-8")


@case("sce", "dot-files")
def _dot_files(model: Path) -> None:
    (model / ".git").mkdir()
    (model / ".git" / "config").symlink_to("/etc/hostname")
