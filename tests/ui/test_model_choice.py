"""The model that is proposed for rows and labels, and what becomes of the user's choice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Label
from sce_desktop.core.choices import ImportChoices
from sce_desktop.core.languages import READS_ALL, READS_ENGLISH, Reads
from sce_desktop.core.runs import KeptModel
from sce_desktop.core.tables import TableOptions
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.message_strip import MessageStrip
from sce_desktop.ui.transfer.import_dialog import ImportDialog
from sce_desktop.ui.window.run_bar import RunBar
from tests.ui.conftest import MakeProject
from tests.ui.import_bench import choose, imported, settle, show
from tests.ui.panels import open_in
from tests.ui.wiring import wired

GERMAN = (
    "Mein Paket ist immer noch nicht angekommen",
    "Der Fahrer war sehr freundlich, vielen Dank",
    "Die Rechnung ist falsch, bitte korrigieren Sie sie",
    "Ich möchte meine Bestellung stornieren",
)
ENGLISH = (
    "My parcel has still not arrived",
    "The driver was very friendly, thank you",
    "The invoice is wrong, please correct it",
    "I would like to cancel my order",
)
OFFERED = "Most rows are in German: sce-multi reads 100 languages; sce-mini reads English."
NOT_READ = "The rows are in German, which sce-mini cannot read."


@pytest.fixture(autouse=True)
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is loaded."""
    monkeypatch.setattr(work.ModelCache, "load", lambda *_args, **_keywords: [])


@pytest.fixture
def multi(monkeypatch: pytest.MonkeyPatch, no_multilingual_model: None) -> None:
    """sce-multi is installed, whether the checkout has it or not."""

    def reads(name: str) -> Reads:
        return READS_ALL if name == "sce-multi" else READS_ENGLISH

    monkeypatch.setattr("sce_desktop.tasks.scoring.choice.is_here", lambda _name: True)
    monkeypatch.setattr("sce_desktop.tasks.scoring.models.scoring_models", lambda: ("sce-mini", "sce-multi"))
    monkeypatch.setattr("sce_desktop.tasks.scoring.foreign.reads_by_name", reads)


class Offers(list[tuple[str, str, Callable[[], object]]]):
    """What a session offered: sentence, button, what it does."""

    def __init__(self, controllers: Controllers) -> None:
        super().__init__()
        controllers.messages.offered.connect(self._add)

    def _add(self, sentence: str, button: str, do: Any, _tone: str) -> None:
        self.append((sentence, button, do))


@pytest.fixture
def offers(controllers: Controllers) -> Offers:
    return Offers(controllers)


def table_of(folder: Path, texts: tuple[str, ...], name: str = "in.csv") -> Path:
    path = folder / name
    path.write_text(
        "ref,text\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate(texts)), encoding="utf-8"
    )
    return path


def looked_up(qtbot: QtBot, controllers: Controllers) -> None:
    """Wait until the languages of the project are known."""
    advice = controllers.advice
    qtbot.waitUntil(lambda: not advice._soon.isActive() and (advice._job is None or not advice._job.active))


def model_shown(dialog: ImportDialog) -> tuple[str, str]:
    return dialog.scored_by.model, dialog.scored_by.reason.text()


# --- at import ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("multi")
def test_german_rows_are_proposed_the_multilingual_model(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, offers: Offers
) -> None:
    dialog = show(qtbot, controllers, table_of(tmp_path, GERMAN))
    assert model_shown(dialog) == ("sce-multi", OFFERED)
    assert not any("cannot read" in sentence for sentence in dialog.facts.texts())
    project = imported(qtbot, controllers, dialog)
    assert project.model() == KeptModel("sce-multi")
    assert controllers.scorer.model == "sce-multi"
    looked_up(qtbot, controllers)
    assert (controllers.advice.warning, offers) == ("", [])


@pytest.mark.usefixtures("multi")
def test_english_rows_keep_the_fast_model(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    dialog = show(qtbot, controllers, table_of(tmp_path, ENGLISH))
    assert model_shown(dialog) == (
        "sce-mini",
        "Most rows are in English: sce-mini reads English and is faster than sce-multi.",
    )
    assert [dialog.scored_by.models.itemData(n) for n in range(2)] == ["sce-mini", "sce-multi"]
    assert imported(qtbot, controllers, dialog).model() == KeptModel("sce-mini")


@pytest.mark.usefixtures("multi")
def test_a_choice_in_the_dialog_stays_and_is_reported_what_it_means(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, offers: Offers
) -> None:
    dialog = show(qtbot, controllers, table_of(tmp_path, (*GERMAN, "Посылка пришла слишком поздно")))
    choose(dialog.scored_by.models, "sce-mini")
    told = " ".join(dialog.facts.texts())
    assert "1 row in Cyrillic script, which sce-mini cannot read." in told
    assert "About 80% of the rows are in German, which sce-mini cannot read." in told
    assert dialog.table.preview.mark(4) == "sce-mini cannot read Cyrillic script"
    choose(dialog.scored_by.models, "sce-multi")
    assert not any("cannot read" in sentence for sentence in dialog.facts.texts())
    assert dialog.table.preview.mark(4) == ""
    choose(dialog.scored_by.models, "sce-mini")
    dialog._on_columns()  # counted again
    settle(qtbot, dialog)
    assert dialog.scored_by.model == "sce-mini"
    project = imported(qtbot, controllers, dialog)
    assert project.model() == KeptModel("sce-mini", chosen=True)
    looked_up(qtbot, controllers)
    assert "German" in controllers.advice.warning
    assert offers == []  # nobody argues with the user


def test_without_the_multilingual_model_the_dialog_says_where_to_get_it(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, offers: Offers
) -> None:
    dialog = show(qtbot, controllers, table_of(tmp_path, GERMAN))
    assert model_shown(dialog) == (
        "sce-mini",
        "Most rows are in German, which sce-mini cannot read: sce-multi reads 100 languages but is not "
        "installed; download it in the Models dialog.",
    )
    imported(qtbot, controllers, dialog)
    looked_up(qtbot, controllers)
    assert controllers.advice.warning == NOT_READ
    assert offers == []  # what is not here cannot be used


@pytest.mark.usefixtures("multi")
def test_the_model_of_the_settings_is_the_proposal_where_it_was_set(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    controllers.preferences.change_setting("model", "mine")
    dialog = show(qtbot, controllers, table_of(tmp_path, GERMAN))
    assert model_shown(dialog) == ("mine", "Your default model (Settings).")
    assert "The rows are in German, which mine cannot read." in dialog.facts.texts()
    assert imported(qtbot, controllers, dialog).model() == KeptModel("mine")


@pytest.mark.usefixtures("multi")
def test_adding_rows_asks_for_no_model(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    open_in(qtbot, controllers, make_project(texts=ENGLISH))
    dialog = show(qtbot, controllers, table_of(tmp_path, GERMAN), append=True)
    assert not dialog.scored_by.isVisible()
    assert "The rows are in German, which sce-mini cannot read." in dialog.facts.texts()
    dialog.target.new.setChecked(True)
    settle(qtbot, dialog)
    assert dialog.scored_by.isVisible()


# --- afterwards --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("multi")
def test_a_project_remembers_what_a_person_chose(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, offers: Offers
) -> None:
    german, other = make_project("German", texts=GERMAN), make_project("Other", texts=ENGLISH)
    open_in(qtbot, controllers, german)
    controllers.scorer.set_model("sce-multi")
    open_in(qtbot, controllers, other)
    assert (controllers.scorer.model, controllers.scorer.kept) == ("sce-mini", KeptModel())
    open_in(qtbot, controllers, german)
    assert (controllers.scorer.model, controllers.scorer.kept) == (
        "sce-multi",
        KeptModel("sce-multi", chosen=True),
    )
    controllers.scorer.set_model("sce-mini")  # the last choice wins
    open_in(qtbot, controllers, other)
    offers.clear()
    open_in(qtbot, controllers, german)
    looked_up(qtbot, controllers)
    assert controllers.scorer.model == "sce-mini"
    assert controllers.advice.warning == NOT_READ
    assert offers == []


@pytest.mark.usefixtures("multi")
def test_rows_in_another_language_bring_an_offer_and_no_switch(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path, offers: Offers
) -> None:
    open_in(qtbot, controllers, make_project(texts=ENGLISH))
    looked_up(qtbot, controllers)
    assert (controllers.advice.warning, offers) == ("", [])
    path = table_of(tmp_path, GERMAN, "more.csv")
    options = TableOptions()
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        controllers.projects.import_table(ImportChoices(path, options, (1,), append=True))
    looked_up(qtbot, controllers)
    assert controllers.advice.warning == "About 50% of the rows are in German, which sce-mini cannot read."
    assert controllers.scorer.model == "sce-mini"
    ((sentence, button, use),) = offers
    assert sentence.startswith("Most rows are in German: sce-multi")
    assert button == "Use sce-multi"
    use()
    assert controllers.scorer.kept == KeptModel("sce-multi", chosen=True)
    looked_up(qtbot, controllers)
    assert (controllers.advice.warning, len(offers)) == ("", 1)


@pytest.mark.usefixtures("multi")
def test_an_offer_is_over_once_the_model_was_chosen_by_hand(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, offers: Offers
) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    controllers.messages.offered.connect(strip.show_offer)
    controllers.advice.over.connect(strip.end_offer_to)
    open_in(qtbot, controllers, make_project(texts=GERMAN))
    looked_up(qtbot, controllers)
    assert [button for _sentence, button, _use in offers] == ["Use sce-multi"]
    strip.show_message("300 rows were written.")
    controllers.scorer.set_model("sce-multi")
    looked_up(qtbot, controllers)
    strip.close_button.click()
    assert not strip.isVisible()


@pytest.mark.usefixtures("multi")
def test_labels_in_another_language_bring_an_offer_once(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, offers: Offers
) -> None:
    open_in(qtbot, controllers, make_project(texts=ENGLISH, labels=("Late delivery", "Praise")))
    looked_up(qtbot, controllers)
    for names in (("배송 지연", "칭찬"), ("배송 지연", "칭찬", "환불")):
        controllers.edits.set_labels([Label(name) for name in names])
        looked_up(qtbot, controllers)
        assert controllers.advice.warning == "The labels are in Korean, which sce-mini cannot read."
    (offer,) = offers
    assert offer[0] == "The labels are in Korean: sce-multi reads 100 languages; sce-mini reads English."


@pytest.mark.usefixtures("multi")
def test_the_tool_bar_marks_a_model_that_cannot_read_the_rows(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    bar = wired(RunBar, controllers)()
    qtbot.addWidget(bar)
    alone, beside = Qt.ToolButtonStyle.ToolButtonTextOnly, Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    open_in(qtbot, controllers, make_project(texts=GERMAN))
    looked_up(qtbot, controllers)
    assert bar.model_button.toolTip().endswith(NOT_READ)
    assert NOT_READ in bar.model_button.accessibleDescription()
    assert bar.model_button.toolButtonStyle() is beside
    controllers.scorer.set_model("sce-multi")
    looked_up(qtbot, controllers)
    assert "cannot read" not in bar.model_button.toolTip()
    assert bar.model_button.toolButtonStyle() is alone


def test_a_project_that_cannot_be_written_keeps_what_it_said(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project(texts=ENGLISH)
    with Project.open(path) as project:
        project.use_model("sce-multi", chosen=True)
        open_in(qtbot, controllers, path)  # the other one writes
        assert controllers.workspace.project is not None
        assert controllers.workspace.project.read_only
        controllers.scorer.set_model("sce-mini")
        assert controllers.scorer.model == "sce-mini"
        assert project.model() == KeptModel("sce-multi", chosen=True)
