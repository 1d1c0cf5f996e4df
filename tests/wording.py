"""What users read, found in the source: messages, help of the command line, documents."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "sce_desktop"
TRANSLATING = {"_", "N_", "ngettext", "pgettext"}
# Calls whose text is seen or heard; the number says which arguments.
SHOWING = {
    "setText": 0, "setToolTip": 0, "setStatusTip": 0, "setWindowTitle": 0, "setAccessibleName": 0,
    "setAccessibleDescription": 0, "setPlaceholderText": 0, "setTitle": 0, "setInformativeText": 0,
    "setSpecialValueText": 0, "setSuffix": 0, "setPrefix": 0, "addTab": 1, "addAction": 0, "addMenu": 0,
    "QLabel": 0, "QPushButton": 0, "QCheckBox": 0, "QRadioButton": 0, "QGroupBox": 0, "QAction": 0,
    "notify": 0, "notify_of_program": 0, "offer": 0, "ask": 0, "warn": 0, "UserError": 0, "showMessage": 0,
    "addRow": 0, "addItem": 0, "setHeaderLabels": 0, "setHorizontalHeaderLabels": 0,
}  # fmt: skip


def modules(folder: Path = SOURCE) -> list[Path]:
    """Return the modules of the program."""
    return sorted(folder.rglob("*.py"))


def _words(text: str) -> bool:
    return sum(letter.isalpha() for letter in text) >= 2


def messages(file: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, message) of everything in ``file`` that is translated."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and _name(node.func) in TRANSLATING:
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.lineno, argument.value


def untranslated(file: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of what ``file`` shows without `_`: literals and pieces glued together."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and (name := _name(node.func)) in SHOWING:
            place = SHOWING[name]
            shown = node.args[place] if len(node.args) > place else None
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            for value in (shown, keywords.get("title"), keywords.get("text")):
                if value is not None:
                    yield from ((line, text) for line, text in _literals(value) if _words(text))


def _literals(node: ast.expr) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Call):
        return  # of `_`, or a function that is looked at by itself
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.Constant):
                yield node.lineno, str(part.value)
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.IfExp | ast.List | ast.Tuple):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _literals(child)


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", None) or getattr(function, "id", "")


def command_help() -> Iterator[tuple[str, str]]:
    """Yield (command, text) of all help that the command line prints."""
    from sce_desktop import cli

    todo: list[argparse.ArgumentParser] = [cli.build_parser()]
    while todo:
        parser = todo.pop()
        for text in (parser.description, parser.epilog):
            if text:
                yield parser.prog, text
        for action in parser._actions:
            if action.help and action.help != argparse.SUPPRESS:
                yield parser.prog, action.help
            if isinstance(action, argparse._SubParsersAction):
                todo += dict.fromkeys(action.choices.values())
                yield from ((parser.prog, one.help) for one in action._choices_actions if one.help)
