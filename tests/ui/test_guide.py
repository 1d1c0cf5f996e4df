"""The guide: F1 opens the page about what has the focus, links and pictures come from the disk."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QImage, QTextDocument, QTextTable
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot

import sce_desktop.ui
from sce_desktop import paths
from sce_desktop.core.guide import CONTENTS, contents, headings, pages, slug, without_directives
from sce_desktop.ui.kit.dialog_parts import GUIDE_ACTION, open_dialog
from sce_desktop.ui.window import guide_window
from sce_desktop.ui.window.guide_pages import PAGES, START, page_for
from sce_desktop.ui.window.guide_window import GuideWindow
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.panels import open_in

CLASS = re.compile(r"^class (\w+)\(([^)]*)\)", re.MULTILINE)
DIALOG_BASES = {"QDialog", "ProjectDialog", "_Question", "LabelsDialog"}


@pytest.fixture
def guide(theme: object, qtbot: QtBot) -> GuideWindow:
    guide = GuideWindow()
    qtbot.addWidget(guide)
    guide.show_page(START)
    return guide


def sources() -> str:
    folder = Path(sce_desktop.ui.__file__).parent
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.py")))


def classes() -> dict[str, set[str]]:
    return {name: {base.strip() for base in bases.split(",")} for name, bases in CLASS.findall(sources())}


# --- which page is about what ------------------------------------------------------------------------------


def test_every_listed_class_exists_and_its_page_and_heading_too() -> None:
    known = classes()
    for name, target in PAGES.items():
        assert name in known
        page, _, heading = target.partition("#")
        text = (paths.guide_dir() / page).read_text(encoding="utf-8")
        assert not heading or heading in map(slug, headings(text)), target


def test_every_dialog_of_the_program_has_a_page() -> None:
    dialogs = {name for name, bases in classes().items() if bases & DIALOG_BASES}
    assert len(dialogs) > 15
    without = {
        name
        for name in dialogs - {"ProjectDialog"}
        if name not in PAGES and not classes()[name] & (DIALOG_BASES - {"QDialog", "ProjectDialog"})
    }
    assert without == set()


def test_every_panel_of_the_window_has_a_page_of_its_own(
    qtbot: QtBot, real_window: MainWindow, make_project: MakeProject
) -> None:
    open_in(qtbot, real_window._controllers, make_project(labels=("Late", "Damaged")))
    found = {name: page_for(dock.build()) for name, dock in real_window.docks.items()}
    assert len(found) == len(set(found.values())) == 6
    assert START not in found.values()
    shown = real_window.workspace
    zones = (shown.labels, shown.rows, shown.filters, shown.row, real_window.start_page)
    assert len({page_for(zone) for zone in zones}) == 5
    assert page_for(real_window) == page_for(None) == START


def test_the_page_is_that_of_the_nearest_part_above(real_window: MainWindow) -> None:
    button = real_window.start_page.open_button
    assert page_for(button) == PAGES["StartPage"]


def test_f1_shows_the_page_about_what_has_the_focus(
    qtbot: QtBot, real_window: MainWindow, make_project: MakeProject
) -> None:
    open_in(qtbot, real_window._controllers, make_project(labels=("Late", "Damaged")))
    field = real_window.workspace.labels.field  # type: ignore[attr-defined]
    field.setFocus()
    qtbot.waitUntil(lambda: field.hasFocus())
    qtbot.keyClick(field, Qt.Key.Key_F1)
    guide = real_window.help_commands.guide
    assert guide is not None
    assert guide.isVisible()
    assert guide.page.page == "guide/labels.md"
    real_window.close()
    qtbot.waitUntil(lambda: not guide.isVisible())


def test_the_button_of_a_dock_shows_the_page_of_its_panel(real_window: MainWindow) -> None:
    real_window.docks["Jobs and log"].bring()
    real_window.panels.helpAsked.emit()
    guide = real_window.help_commands.guide
    assert guide is not None
    assert guide.page.page == "guide/projects.md"
    guide.close()


def test_f1_in_a_dialog_asks_the_window_below(qtbot: QtBot, theme: object) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    action = QAction("Guide", window)
    action.setObjectName(GUIDE_ACTION)
    window.show()
    outer = open_dialog(QDialog(window))
    inner = open_dialog(QDialog(outer))  # a question that a dialog asks
    qtbot.waitUntil(inner.isActiveWindow)
    with qtbot.waitSignal(action.triggered):
        qtbot.keyClick(inner, Qt.Key.Key_F1)
    outer.close()


# --- the window --------------------------------------------------------------------------------------------


def test_the_contents_list_every_page_and_follow_the_one_that_is_shown(guide: GuideWindow) -> None:
    entries = contents((paths.guide_dir() / CONTENTS).read_text(encoding="utf-8"))
    for entry in pages(entries):
        guide.page.open_page(entry.page)
        item = guide.list.currentItem()
        assert item is not None
        assert item.text(0) == entry.title
        assert guide.page.toPlainText().strip(), entry.page


def test_tables_are_read_whole(guide: GuideWindow) -> None:
    """Qt breaks the first cell of a table that follows a block of code at once."""
    seen = 0
    for page in guide._items:
        if page.startswith("research/"):
            continue
        guide.page.open_page(page)
        for frame in guide.page.document().rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                cell = frame.cellAt(0, 0)
                first, last = cell.firstCursorPosition().block(), cell.lastCursorPosition().block()
                assert first == last, (page, last.text())
                seen += 1
    assert seen > 40


def test_a_click_on_the_contents_shows_the_page(guide: GuideWindow) -> None:
    item = guide._items["guide/map.md"]
    guide.list.itemClicked.emit(item, 0)
    assert guide.page.page == "guide/map.md"
    guide.list.itemActivated.emit(item, 0)  # Return on the page that is shown
    assert guide.page.page == "guide/map.md"


def test_a_link_goes_to_the_heading_and_back_and_forward(guide: GuideWindow, qtbot: QtBot) -> None:
    guide.page.open_page("guide/evaluate.md")
    assert guide.back.isEnabled()
    guide.page.follow(QUrl("review.md#blind-mode"))
    assert guide.page.page == "guide/review.md"
    assert guide.page.verticalScrollBar().value() > 0
    guide.back.click()
    assert guide.page.page == "guide/evaluate.md"
    guide.forward.click()
    assert guide.page.page == "guide/review.md"
    assert not guide.page.go_to("no-such-heading")


def test_links_to_the_web_go_to_the_browser_and_other_files_nowhere(
    guide: GuideWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        guide_window.QDesktopServices, "openUrl", lambda url: asked.append(url.toString()) or True
    )
    guide.page.follow(QUrl("https://arxiv.org/abs/2601.03450"))
    assert asked == ["https://arxiv.org/abs/2601.03450"]
    secret = tmp_path / "secret.md"
    secret.write_text("# Not of the guide")
    for target in (QUrl.fromLocalFile(str(secret)), QUrl("../CONTRIBUTING.md"), QUrl("no-such-page.md")):
        guide.page.follow(target)
        assert guide.page.page == START
    kind = QTextDocument.ResourceType.MarkdownResource.value
    assert not guide.page.loadResource(kind, QUrl.fromLocalFile(str(secret)))


def test_pictures_are_shown_no_wider_than_the_page(guide: GuideWindow, qtbot: QtBot) -> None:
    kind = QTextDocument.ResourceType.ImageResource.value
    picture = guide.page.loadResource(kind, QUrl("pictures/main.webp"))
    assert isinstance(picture, QImage)
    assert not picture.isNull()
    assert 200 < picture.width() / picture.devicePixelRatio() <= guide.page.viewport().width()
    guide.resize(700, 500)
    qtbot.waitUntil(lambda: guide.page.horizontalScrollBar().maximum() == 0)


def test_nothing_is_asked_of_the_network(guide: GuideWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    for page in ("index.md", "guide/map.md", "research/fine-tune.md"):
        guide.page.open_page(page)
    kind = QTextDocument.ResourceType.ImageResource.value
    assert not guide.page.loadResource(kind, QUrl("https://example.org/picture.png"))


def test_find_goes_round_and_says_so(guide: GuideWindow, qtbot: QtBot) -> None:
    guide.page.open_page("glossary.md")
    qtbot.keyClicks(guide.field, "kappa")
    qtbot.keyClick(guide.field, Qt.Key.Key_Return)
    assert guide.page.textCursor().selectedText().lower() == "kappa"
    assert guide.result_label.text() == ""
    while not guide.result_label.text():
        guide.find_next()
    assert guide.result_label.text() == "Continued from the top"
    guide.find_next(backward=True)
    assert guide.result_label.text() == "Continued from the end"
    guide.field.setText("no such word")
    guide.find_next()
    assert guide.result_label.text() == "No match here: try another page"
    guide.field.clear()
    assert guide.result_label.text() == ""


def test_every_part_has_a_name_for_screen_readers(guide: GuideWindow) -> None:
    parts = (
        guide,
        guide.page,
        guide.list,
        guide.field,
        guide.back,
        guide.forward,
        guide.next,
        guide.previous,
    )
    names = [part.accessibleName() for part in parts]
    assert all(names)
    assert len(set(names)) == len(names)


def test_escape_closes(guide: GuideWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(guide.isActiveWindow)
    qtbot.keyClick(guide.page, Qt.Key.Key_Escape)
    assert not guide.isVisible()


# --- the pages are true of the program ---------------------------------------------------------------------

MENU_PATH = re.compile(r"\*\*(File|Edit|Run|Review|View|Help) › ([^*]+)\*\*")


def test_every_menu_that_the_guide_names_exists(real_window: MainWindow) -> None:
    entries = {
        (str(action.property("menu_name")), action.text().replace("&", ""))
        for action in real_window.menus.all_actions()
        if action.text()
    }
    named = {
        (menu, " ".join(words.split()), file.name)
        for file in paths.guide_dir().rglob("*.md")
        if file.parent.name not in ("adr", "research")
        for menu, words in MENU_PATH.findall(file.read_text(encoding="utf-8"))
    }
    assert len(named) > 30
    assert {one for one in named if one[:2] not in entries} == set()


def test_parts_that_the_web_site_fills_in_are_a_sentence_here() -> None:
    page = (paths.guide_dir() / "reference" / "python.md").read_text(encoding="utf-8")
    assert ":::" in page
    assert ":::" not in without_directives(page)
    assert "help(sce_desktop.ml.classifier.SCEClassifier)" in without_directives(page)


def test_the_page_of_the_shortcuts_is_up_to_date(
    real_window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "tools" / "docs")
    from reference_pages import keys_page, menu_keys

    page = (paths.guide_dir() / "reference" / "keys.md").read_text(encoding="utf-8")
    assert page == keys_page(menu_keys(real_window)), "run `make docs`, or tools/docs/generate.py"


def test_another_width_draws_a_page_again_once(
    theme: object, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    plain = guide_window.GuidePage._draw_again

    def draw(drawing: guide_window.GuidePage) -> None:
        if drawing is page:  # and not one that another test has left
            drawn.append(page.width())
        plain(drawing)

    monkeypatch.setattr(guide_window.GuidePage, "_draw_again", draw)
    page = guide_window.GuidePage(paths.guide_dir())
    qtbot.addWidget(page)
    page.resize(700, 500)
    page.show()
    page.open_page("guide/score.md")
    qtbot.waitUntil(lambda: not page._resized.isActive())
    drawn.clear()
    page.resize(560, 500)
    qtbot.waitUntil(lambda: drawn != [])
    assert drawn == [560]
    assert page.verticalScrollBar().maximum() > 0
    assert not page._resized.isActive()  # what was drawn asks for no other
