"""The models manager: what is listed, what is asked before it is done, and that it follows what happens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog, QTreeWidgetItem
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import model_store, work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.errors import UserError
from sce_desktop.core.models import Known
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import ModelKind
from sce_desktop.ml.hub import catalog, fetching, manifest, model_packages, model_places
from sce_desktop.tasks.scoring import models as tasks
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.models.model_questions import CodeQuestion, FetchQuestion, RemoveQuestion
from sce_desktop.ui.models.models_dialog import ModelsDialog
from sce_desktop.ui.window.run_bar import RunBar
from tests.ml.tiny import tiny_sce, tiny_sentence_transformer
from tests.ml.tiny_llm import tiny_llm
from tests.ui.wiring import wired

JINA, SMOL = "jina-embeddings-v3", "SmolLM2-135M-Instruct"


@pytest.fixture
def dialog(qtbot: QtBot, controllers: Controllers, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelsDialog]:
    monkeypatch.setattr(work.ModelCache, "load", lambda _self, _choice, *, progress: [])
    controllers.preferences.settings["offline"] = False
    dialog = wired(ModelsDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: bool(controllers.models.installed))
    yield dialog
    qtbot.waitUntil(
        lambda: not controllers.workspace.workers.files.busy and not controllers.workspace.workers.fetch.busy
    )


def item(dialog: ModelsDialog, name: str) -> QTreeWidgetItem:
    items = [dialog.list.topLevelItem(i) for i in range(dialog.list.topLevelItemCount())]
    return next(one for one in items if one is not None and one.text(0) == name)


def choose(dialog: ModelsDialog, name: str) -> None:
    dialog.list.setCurrentItem(item(dialog, name))


def listed(dialog: ModelsDialog) -> list[str]:
    return [dialog.list.topLevelItem(i).text(0) for i in range(dialog.list.topLevelItemCount())]  # type: ignore[union-attr]


def question(dialog: ModelsDialog, kind: type[Any]) -> Any:
    return dialog.findChildren(kind)[-1]


def add(qtbot: QtBot, dialog: ModelsDialog, folder: Path) -> None:
    dialog.add_folder(str(folder))
    qtbot.waitUntil(lambda: folder.name in listed(dialog))
    qtbot.waitUntil(lambda: not dialog._store.jobs)
    choose(dialog, folder.name)


def test_what_is_here_and_what_can_be_fetched(dialog: ModelsDialog) -> None:
    names = listed(dialog)
    assert names.index("Installed") < names.index("all-MiniLM-L6-v2") < names.index("Available")
    assert names.count("all-MiniLM-L6-v2") == 1
    jina = item(dialog, JINA)
    assert jina.text(1) == "Similarity"
    assert jina.text(2) == "1.2 GB"
    assert "not for commercial use" in jina.text(3)
    assert not jina.icon(3).isNull()
    assert item(dialog, SMOL).text(1) == "LLM"
    assert item(dialog, "all-MiniLM-L6-v2").text(4) == "In use"
    choose(dialog, "all-MiniLM-L6-v2")
    assert dialog.use.isVisible()
    assert not dialog.use.isEnabled()
    assert not dialog.remove.isVisible()
    assert not dialog.get.isVisible()
    choose(dialog, JINA)
    assert dialog.get.isVisible()
    assert "NOT for commercial use" in dialog.facts.text()
    assert "odels run on" in dialog.device.text() or "odel" in dialog.device.text()


KINDS = [("llm", SMOL), ("similarity", "all-MiniLM-L6-v2"), ("sce", "sce-mini")]


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_it_begins_at_the_model_that_is_asked_for(
    qtbot: QtBot, controllers: Controllers, kind: ModelKind, name: str
) -> None:
    dialog = wired(ModelsDialog, controllers)(kind=kind)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.models.chosen() == name)  # once it is in the list, which comes in parts
    choose(dialog, "all-MiniLM-L6-v2")
    controllers.models.changed.emit()
    assert dialog.models.chosen() == "all-MiniLM-L6-v2"  # and then the user's choice stands
    qtbot.waitUntil(
        lambda: not controllers.workspace.workers.files.busy and not controllers.workspace.workers.fetch.busy
    )


def test_a_folder_is_added_used_checked_and_removed(
    qtbot: QtBot, controllers: Controllers, dialog: ModelsDialog, tmp_path: Path
) -> None:
    bar = wired(RunBar, controllers)()
    qtbot.addWidget(bar)
    folder = tiny_sentence_transformer(tmp_path / "модели 1")
    dialog._ask_folder()
    chooser = dialog.findChild(QFileDialog)
    assert chooser is not None
    chooser.fileSelected.emit(str(folder))
    chooser.close()
    qtbot.waitUntil(lambda: folder.name in listed(dialog))
    qtbot.waitUntil(lambda: (folder.name, "similarity") in bar._names)  # the run bar follows
    choose(dialog, folder.name)
    assert dialog.use.text() == "Use for similarity"
    dialog.check.click()
    qtbot.waitUntil(lambda: "All files verified" in dialog.outcome.text())
    (model_places.paths.models_dir() / folder.name / "tokenizer.json").write_bytes(b"{}")
    dialog.check.click()
    qtbot.waitUntil(lambda: "tokenizer.json does not match its hash" in dialog.outcome.text())
    assert item(dialog, folder.name).text(4) == "Problem"
    dialog.use.click()
    qtbot.waitUntil(lambda: controllers.scorer.baselines == (f"similarity:{folder.name}",))
    assert not dialog.remove.isEnabled()
    assert "choose another model first" in dialog.remove.toolTip()
    controllers.scorer.hide_baselines("similarity")
    assert dialog.remove.isEnabled()
    dialog.remove.click()
    question(dialog, RemoveQuestion).accept()
    qtbot.waitUntil(lambda: folder.name not in listed(dialog))
    assert not (model_places.paths.models_dir() / folder.name).exists()
    assert folder.exists()
    qtbot.waitUntil(lambda: (folder.name, "similarity") not in bar._names)


@pytest.mark.parametrize(
    ("make", "use", "model"),
    [(tiny_sce, "Score with it", "tiny"), (tiny_llm, "Use as the LLM", "llm:tiny-llama")],
)
def test_every_kind_plays_its_part(
    qtbot: QtBot,
    controllers: Controllers,
    dialog: ModelsDialog,
    tmp_path: Path,
    make: Callable[[Path], Path],
    use: str,
    model: str,
) -> None:
    add(qtbot, dialog, make(tmp_path))
    assert dialog.use.text() == use
    dialog.use.click()
    qtbot.waitUntil(lambda: model in (controllers.scorer.model, controllers.scorer.llm))


def spoil_config(folder: Path) -> None:
    (folder / "config.json").write_text("{", encoding="utf-8")


def pickle_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n")


def lose_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def lose_config(folder: Path) -> None:
    (folder / "config.json").unlink()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (spoil_config, "is damaged"),
        (pickle_weights, "as a pickle"),
        (lose_weights, "model.safetensors is missing"),
        (lose_config, "not a model folder"),
    ],
)
def test_bad_folders_are_refused_in_one_sentence(
    qtbot: QtBot, controllers: Controllers, dialog: ModelsDialog, tmp_path: Path, spoil: Any, sentence: str
) -> None:
    folder = tiny_llm(tmp_path, name="плохая модель")
    spoil(folder)
    before = listed(dialog)
    dialog.add_folder(str(folder))
    qtbot.waitUntil(lambda: sentence in dialog.problem.text())
    assert dialog.problem.isVisible()
    assert "\n" not in dialog.problem.text()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    assert listed(dialog) == before


def test_a_spoilt_model_is_shown_and_can_be_removed(
    qtbot: QtBot, controllers: Controllers, dialog: ModelsDialog, tmp_path: Path
) -> None:
    add(qtbot, dialog, tiny_sce(tmp_path))
    spoil_config(model_places.paths.models_dir() / "tiny")
    controllers.models.refresh()
    qtbot.waitUntil(lambda: item(dialog, "tiny").text(4) == "Damaged")
    choose(dialog, "tiny")
    assert "is damaged" in dialog.facts.text()
    assert not dialog.use.isVisible()
    assert "tiny" not in controllers.models.of_kind("sce")
    dialog.remove.click()
    question(dialog, RemoveQuestion).accept()
    qtbot.waitUntil(lambda: "tiny" not in listed(dialog))


def test_code_of_a_folder_runs_only_after_a_yes_for_it(
    qtbot: QtBot, controllers: Controllers, dialog: ModelsDialog, tmp_path: Path
) -> None:
    for name, yes in (("wary", False), ("trusted", True)):
        folder = tiny_sentence_transformer(tmp_path / name).rename(tmp_path / name / name)
        (folder / "custom.py").write_text("raise SystemExit", encoding="utf-8")
        asked = len(dialog.findChildren(CodeQuestion))
        dialog.add_folder(str(folder))
        qtbot.waitUntil(lambda asked=asked: len(dialog.findChildren(CodeQuestion)) > asked)  # type: ignore[misc]
        box = question(dialog, CodeQuestion)
        assert not box.code_allowed
        box._code.setChecked(yes)
        box.accept()
        qtbot.waitUntil(lambda name=name: name in listed(dialog))  # type: ignore[misc]
        assert catalog.load_options(name) == ({"trust_remote_code": True} if yes else {})
    choose(dialog, "trusted")
    assert "its own program code may run" in dialog.facts.text().lower()


# --- fetching ----------------------------------------------------------------------------------------------


class SlowHub:
    """Stands where the hub is: gives a model in two halves, as slowly as a test wants."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.go_on = threading.Event()
        self.codes: list[bool] = []

    def from_hub(self, name: str, part: Path, *, code: bool, space: Any, progress: Progress) -> str:
        self.codes.append(code)
        part.mkdir(parents=True, exist_ok=True)
        (part / "config.json").write_bytes((self.source / "config.json").read_bytes())
        progress.report(500, 1000, stage=f"fetching {name}")
        while not self.go_on.wait(0.002):
            progress.check()
        for file in self.source.iterdir():
            (part / file.name).write_bytes(file.read_bytes())
        return f"hub:{name}@abc"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowHub]:
    hub = SlowHub(tiny_llm(tmp_path, name="on-the-hub"))
    monkeypatch.setattr(fetching, "from_hub", hub.from_hub)
    yield hub
    hub.go_on.set()


def test_terms_come_first_then_progress_stop_and_going_on(
    qtbot: QtBot, controllers: Controllers, dialog: ModelsDialog, hub: SlowHub
) -> None:
    choose(dialog, SMOL)
    dialog.get.click()
    terms = question(dialog, FetchQuestion)
    assert hub.codes == []  # nothing is fetched before the answer
    terms.reject()
    assert controllers.models.jobs == {}
    dialog.get.click()
    question(dialog, FetchQuestion).accept()
    qtbot.waitUntil(lambda: "50%" in item(dialog, SMOL).text(4))
    assert dialog.bar.isVisible()
    assert dialog.bar.value() == 500
    assert not controllers.workspace.workers.files.busy  # a download holds no file up
    dialog.cancel.click()
    qtbot.waitUntil(lambda: "downloaded" in item(dialog, SMOL).text(4))
    assert SMOL not in [entry.name for entry in catalog.list_models()]
    assert dialog.get.text() == "Resume…"
    dialog.get.click()
    question(dialog, FetchQuestion).accept()
    dialog.reject()  # it goes on without the dialog
    hub.go_on.set()
    qtbot.waitUntil(lambda: controllers.models.of_kind("llm") == [SMOL])
    assert hub.codes == [False, False]
    again = wired(ModelsDialog, controllers)()
    qtbot.addWidget(again)
    again.show()
    choose(again, SMOL)
    assert again.use.text() == "Use as the LLM"


def test_offline_or_out_of_reach_is_one_sentence(
    qtbot: QtBot, controllers: Controllers, dialog: ModelsDialog
) -> None:
    """The real library, told to stay offline; sockets are blocked too."""
    choose(dialog, JINA)
    dialog.get.click()
    with qtbot.waitSignal(controllers.messages.notified) as told:
        question(dialog, FetchQuestion).accept()
    assert "check the network" in told.args[0]
    assert "check the network" in dialog.outcome.text()
    assert "\n" not in told.args[0]
    dialog.hub_name.setText("somebody/some-model")
    dialog.hub_get.click()
    qtbot.waitUntil(lambda: "somebody/some-model cannot be downloaded" in dialog.problem.text())
    qtbot.waitUntil(dialog.hub_get.isEnabled)
    dialog.hub_name.setText("no owner")
    dialog.hub_name.returnPressed.emit()
    qtbot.waitUntil(lambda: "owner/model" in dialog.problem.text())


def test_an_answer_that_comes_after_the_dialog_is_gone(
    qtbot: QtBot, controllers: Controllers, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def look_up(_name: str, *, progress: Progress) -> Known:
        asked.set()
        go_on.wait(10)
        raise UserError("There is no model somebody/chat on the hub.")

    monkeypatch.setattr(tasks, "look_up", look_up)
    controllers.preferences.settings["offline"] = False
    dialog = open_dialog(wired(ModelsDialog, controllers)())
    dialog.hub_name.setText("somebody/chat")
    dialog.hub_get.click()
    qtbot.waitUntil(asked.is_set)
    with qtbot.waitSignal(dialog.destroyed):
        dialog.reject()
    go_on.set()
    qtbot.waitUntil(
        lambda: not controllers.workspace.workers.fetch.busy and not controllers.workspace.workers.files.busy
    )


def test_a_gated_model_without_a_token(
    qtbot: QtBot, controllers: Controllers, dialog: ModelsDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gate(name: str, *_: Any, **__: Any) -> str:
        raise UserError(f"{name} asks you to accept its terms on its hub page first, and to log in.")

    monkeypatch.setattr(fetching, "from_hub", gate)
    choose(dialog, "Llama-3.2-1B-Instruct")
    dialog.get.click()
    terms = question(dialog, FetchQuestion)
    assert any("hf auth login" in label.text() for label in terms.findChildren(type(dialog.facts)))
    terms.accept()
    qtbot.waitUntil(lambda: "accept its terms" in dialog.outcome.text())
    assert dialog.get.isVisible()


def test_any_model_of_the_hub_and_its_code(
    qtbot: QtBot,
    controllers: Controllers,
    dialog: ModelsDialog,
    hub: SlowHub,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offer = Known("somebody/chat", "somebody/chat", "llm", "", 5_000_000, "", code=True)
    monkeypatch.setattr(tasks, "look_up", lambda name, *, progress: offer)
    hub.go_on.set()
    dialog.hub_name.setText(" somebody/chat ")
    dialog.hub_get.click()
    qtbot.waitUntil(lambda: bool(dialog.findChildren(FetchQuestion)))
    terms = question(dialog, FetchQuestion)
    assert not terms.code_allowed
    terms._code.setChecked(True)
    terms.accept()
    qtbot.waitUntil(lambda: "somebody/chat" in listed(dialog))
    assert hub.codes == [True]
    assert controllers.models.entry("somebody/chat").code  # type: ignore[union-attr]


def test_downloads_are_off_until_they_are_allowed(
    qtbot: QtBot, controllers: Controllers, dialog: ModelsDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    controllers.preferences.change_setting("offline", True)
    choose(dialog, JINA)
    assert not dialog.get.isEnabled()
    assert not dialog.hub_name.isVisible()
    dialog.allow.click()
    assert controllers.preferences.settings["offline"] is False
    assert dialog.get.isEnabled()
    assert not constants.HF_HUB_OFFLINE
    assert "HF_HUB_OFFLINE" not in model_store.tasks.os.environ


def test_the_hub_follows_the_setting_both_ways(
    controllers: Controllers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    controllers.preferences.change_setting("offline", False)  # as the settings do
    assert not constants.HF_HUB_OFFLINE
    controllers.preferences.change_setting("blind", True)
    assert "HF_HUB_OFFLINE" not in model_store.tasks.os.environ
    controllers.preferences.change_setting("offline", True)
    assert constants.HF_HUB_OFFLINE
    assert model_store.tasks.os.environ["HF_HUB_OFFLINE"] == "1"


def test_a_model_that_pip_installed_is_used_and_checked_but_removed_by_pip(
    qtbot: QtBot, dialog: ModelsDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_sce(tmp_path / "site" / model_packages.NAMESPACE, name="tiny")
    manifest.write(folder, {"name": folder.name, "version": "1.0"})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    dialog._store.refresh()
    qtbot.waitUntil(lambda: folder.name in listed(dialog))
    choose(dialog, folder.name)
    assert f"Installed by pip as sce-desktop-{folder.name}" in dialog.facts.text()
    assert dialog.use.isVisible()
    assert dialog.check.isVisible()
    assert not dialog.remove.isVisible()
