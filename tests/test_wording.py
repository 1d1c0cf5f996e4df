"""The voice of the program: words to stumble over stay out, and all that is seen can be translated."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.wording import ROOT, SOURCE, command_help, messages, modules, untranslated

FORBIDDEN = {
    r"\banew\b": "again, or re-",
    r"\b(take|takes|taken|took) (it |them |that |this )?back\b": "undo",
    r"\b(go|goes|going) on\b": "continue",
    r"\bmend(s|ed|ing)?\b": "fix, repair",
    r"\bcoders?\b": "annotator",
    r"\bwhole table\b": "joint prediction (transductive); “all rows” where that is meant",
    r"\b(count|counts|counted) (them |it |the other rows )?in\b": "predicted jointly",
    r"\bby (it|them)self\b|\bby themselves\b": "automatically",
    r"\bbehind the window\b": "in the background",
    r"\bas (it|they) (was|were)\b": "base model, unchanged",
    r"\b(is|are) (already there|there already)\b": "already exists",
    r"\bmay not be read\b": "cannot be read (permission denied)",
    r"\bone a (line|row)\b": "one per line",
    r"\ban? row (has|have|can have)?\s*a label\b": "each row",
    r"\bright answers?\b": "gold label",
    r"\banswers? of yours\b|\byour answers?\b": "your label",
    r"\b(model|models|LLM|SCE) (says?|said)\b": "predicts; prediction",
    r"\bbest probability\b": "confidence",
    r"\bteach(es)? most\b|\bread alike\b|\bin one go\b": "see the glossary",
    r"\bwhere the truth lies\b|\bat the worst\b": "95% confidence interval, margin of error",
    r"\bleft out\b|\bleaving out\b": "excluded, held-out",
    r"\bsurplus\b": "extra",
    r"(\d|\}) %(?!\w)": "no space before % in English",
    r"\bis no (?:[A-Z]|table|number|folder|text|workbook|project file)\b": "is not a",
    r"\bfetch(es|ed|ing)?\b": "download",
    r"\bdecided (alike|together|by hand|in bulk|anew|blindly)\b": "labelled",
    r"\b(you|person|people|somebody|user) decid(e|ed|es)\b": "label",
    r"\bwhat (it|they) brought\b|\bwhat came of (it|them)\b": "result",
    r"\bnear copies\b": "near duplicates",
    r"\bbe through\b|\bis through\b|\bare through\b": "is finished",
}
FOLDERS = sorted(
    str(folder.relative_to(SOURCE))
    for folder in (SOURCE, *SOURCE.rglob("*"))
    if folder.is_dir() and any(folder.glob("*.py")) and folder.name != "__pycache__"
)
NOT_SHOWN_IN_THE_WINDOW = ("commands", "research")  # the command line speaks English
OF_THE_COMMAND_LINE = ("cli.py", "terminal.py")
DOCS = sorted(
    file
    for file in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
    if "adr" not in file.parts and "research" not in file.parts
)


def stumbles(text: str) -> list[str]:
    """Return what is wrong with a text, in words."""
    return [
        f"“{found[0]}” (say: {better})"
        for pattern, better in FORBIDDEN.items()
        if (found := re.search(pattern, text, re.IGNORECASE))
    ]


def documents(folder: str) -> list[Path]:
    return [file for file in modules() if file.parent == SOURCE / folder]


@pytest.mark.parametrize("folder", FOLDERS)
def test_messages_use_the_words_of_the_glossary(folder: str) -> None:
    wrong = [
        f"{file.name}:{line}: {found}"
        for file in documents(folder)
        for line, text in messages(file)
        for found in stumbles(text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", [one for one in FOLDERS if not one.startswith(NOT_SHOWN_IN_THE_WINDOW)])
def test_all_that_is_shown_can_be_translated(folder: str) -> None:
    wrong = [
        f"{file.name}:{line}: {text!r}"
        for file in documents(folder)
        if file.name not in OF_THE_COMMAND_LINE
        for line, text in untranslated(file)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_help_of_the_command_line_uses_them() -> None:
    wrong = [f"{command}: {text!r}: {found}" for command, text in command_help() for found in stumbles(text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("file", DOCS, ids=lambda file: file.stem)
def test_documents_use_them(file: Path) -> None:
    wrong = [
        f"{number}: {found}"
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        for found in stumbles(line)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_lambda_hides_the_function_that_translates() -> None:
    hidden = [
        f"{file.relative_to(SOURCE)}:{node.lineno}"
        for file in modules()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Lambda) and any(argument.arg == "_" for argument in node.args.args)
        if any(
            isinstance(call, ast.Call) and getattr(call.func, "id", "") == "_" for call in ast.walk(node.body)
        )
    ]
    assert hidden == []
