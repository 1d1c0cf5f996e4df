"""Lets QualCoder's own code import and export a QDA-XML project: ``python qualcoder_driver.py SRC IN OUT``.

``SRC`` is the folder ``src`` of QualCoder's repository, ``IN`` a .qdpx file, ``OUT`` a new folder: there are
then ``project.json``, what QualCoder's database holds, and ``out.qdpx``, what it exports. Nothing of ours is
imported. Needs PyQt6. Of QualCoder the import, the export and the tables of a new project are used; its main
window, settings and file dialogs are stood in for.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sqlite3
import sys
import types
from pathlib import Path

TABLES = {
    "codes": "SELECT cid, name, memo, catid, color, owner FROM code_name",
    "categories": "SELECT catid, name, memo, supercatid FROM code_cat",
    "sources": "SELECT id, name, fulltext, memo, mediapath FROM source",
    "codings": "SELECT cid, fid, pos0, pos1, seltext, owner FROM code_text",
    "variables": "SELECT name, caseOrFile, valuetype FROM attribute_type",
    "values": "SELECT name, attr_type, value, id FROM attribute",
    "annotations": "SELECT fid, pos0, pos1, memo, owner FROM annotation",
    "journals": "SELECT name, jentry FROM journal",
}
said: list[str] = []


class Message:
    """In the place of QualCoder's message box: what it would say is kept."""

    def __init__(self, _app: object, title: str, text: str, _kind: str = "") -> None:
        said.append(f"{title}: {text}")

    def exec(self) -> None:
        """Nobody answers."""


class App:
    """What the import and the export want of QualCoder's application object."""

    version = "QualCoder"
    ai_models: tuple[str, ...] = ()
    project_events = None

    def __init__(self, folder: Path, source: Path) -> None:
        self.project_name = "out.qda"
        self.project_path = str(folder / self.project_name)
        for name in ("documents", "images", "audio", "video"):
            Path(self.project_path, name).mkdir(parents=True)
        self.settings = {
            "codername": "default",
            "directory": str(folder),
            "ai_enable": "False",
            "fontsize": 10,
            "font": "Sans",
        }
        self.conn = sqlite3.connect(Path(self.project_path) / "data.qda")
        for statement in new_tables(source):
            self.conn.execute(statement)
        self.conn.execute(
            "INSERT INTO project (databaseversion, date, memo, about) VALUES (?, ?, ?, ?)",
            ("", "2026-01-02 03:04:05", "", ""),
        )

    def write_config_ini(self, *_: object) -> None:
        """Keep no settings."""

    def get_annotations(self) -> list[dict[str, object]]:
        """Return the annotations of texts, as QualCoder's does."""
        keys = ("anid", "fid", "pos0", "pos1", "memo", "owner", "date")
        rows = self.conn.execute(f"SELECT {', '.join(keys)} FROM annotation").fetchall()
        return [dict(zip(keys, row, strict=True)) for row in rows]


def new_tables(source: Path) -> list[str]:
    """Return the statements by which QualCoder makes the tables of a new project, out of its code."""
    tree = ast.parse((source / "qualcoder" / "__main__.py").read_text(encoding="utf-8"))
    (made,) = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "new_project")
    texts = [n.value for n in ast.walk(made) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return [text for text in texts if text.startswith("CREATE TABLE")]


def main(source: Path, given: Path, out: Path) -> None:
    """Import ``given`` into a new project, say what is in it, and export it."""
    out.mkdir()
    os.environ |= {"HOME": str(out), "QT_QPA_PLATFORM": "offscreen"}
    (out / ".qualcoder").mkdir()
    sys.path.insert(0, str(source))
    builtins._ = str  # type: ignore[attr-defined]
    helpers = types.ModuleType("qualcoder.helpers")
    helpers.Message = Message  # type: ignore[attr-defined]
    sys.modules["qualcoder.helpers"] = helpers

    from PyQt6 import QtWidgets  # type: ignore[import-not-found]
    from qualcoder import refi  # type: ignore[import-not-found]

    application = QtWidgets.QApplication([])
    QtWidgets.QFileDialog.getOpenFileName = staticmethod(lambda *_, **__: (str(given), "QDA"))
    QtWidgets.QFileDialog.getExistingDirectory = staticmethod(lambda *_, **__: str(out))
    refi.RefiLineEndings.exec = lambda self: 0
    app, log = App(out, source), QtWidgets.QTextEdit()
    codebook = given.suffix == ".qdc"
    refi.RefiImport(app, log, "qdc" if codebook else "qdpx")
    found = {}
    for name, statement in TABLES.items():
        cursor = app.conn.execute(statement)
        keys = [column[0] for column in cursor.description]
        found[name] = [dict(zip(keys, row, strict=True)) for row in cursor]
    (out / "project.json").write_text(json.dumps(found | {"said": said}), encoding="utf-8")
    if not codebook:
        refi.RefiExport(app, log, "project")
    del application


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
