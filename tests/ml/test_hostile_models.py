"""Model folders that mean ill (`tests.hostile.models`): one sentence each, in little time and memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.hostile import model_cases, models
from tests.hostile.child import in_child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does")
SLOW = {
    *("config-50-MB", "many-files", "tokenizer-many-tokens", "added-tokens-in-masses", "deep-folders"),
    *("link-weights-to-zero", "link-chain", "link-dangling", "format-list", "encoder-layers-10-million"),
    *(
        "heads-0-labels",
        "hidden-negative",
        "labels-text",
        "embedder-text",
        "max-tokens-text",
        "alpha-infinite",
    ),
    *("weights-of-7-bits", "positions-huge", "config-many-lists", "regex-broken", "regex-in-normalizer"),
    *("replace-long", "tokenizer-of-lists", "weights-header-huge", "weights-header-deep", "pickle-text"),
    *("text-layers", "config-deep-200", "prefix-1-MB"),
}
"""Left to ``python -m tests.hostile models``, as are most that need a library: its import takes seconds."""
ORDINARY = [
    name for name in model_cases.CASES if model_cases.KIND_OF[name] in ("sce", "text") and name not in SLOW
]
BY_LIBRARIES = [
    *("library-vocabulary", "library-weights-nan", "llm-code", "template-doubles", "adapter-rank"),
    "gguf-tensors",
]


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> None:
    models.load_ours()
    model_cases.seeds(tmp_path_factory.mktemp("whole"), ("sce", "text"))


@pytest.fixture(scope="module")
def all_seeds(tmp_path_factory: pytest.TempPathFactory) -> None:
    models.load_everything()
    model_cases.seeds(tmp_path_factory.mktemp("whole"))


def check(name: str, place: Path) -> None:
    ended = in_child(lambda: models.meet(model_cases.CASES[name], place))

    assert ended.how == "returned", f"{ended.how} after {ended.seconds:.1f} s: {ended.text[-3000:]}"
    if name in models.HARMLESS:
        assert ended.text == "added\nscored"
    else:
        assert not ended.text.endswith("scored"), ended.text


@pytest.mark.usefixtures("seeds")
@pytest.mark.parametrize("name", ORDINARY)
def test_it_is_refused_in_one_sentence_or_harmless(name: str, tmp_path: Path) -> None:
    check(name, tmp_path / "there")


@pytest.mark.usefixtures("all_seeds")
@pytest.mark.parametrize("name", BY_LIBRARIES)
def test_so_are_models_that_libraries_load(name: str, tmp_path: Path) -> None:
    check(name, tmp_path / "there")


@pytest.mark.usefixtures("seeds")
@pytest.mark.parametrize("name", ["link-up", "link-nested", "hub-snapshot-out", "index-out"])
def test_nothing_from_outside_is_copied(name: str, tmp_path: Path) -> None:
    place = tmp_path / "there"

    ended = in_child(lambda: models.meet(model_cases.CASES[name], place))

    assert ended.how == "returned", ended.text
    assert not list((place / "models").glob("*"))


@pytest.mark.usefixtures("seeds")
def test_a_snapshot_of_the_hub_is_copied_as_files(tmp_path: Path) -> None:
    place = tmp_path / "there"

    ended = in_child(lambda: models.meet(model_cases.CASES["hub-snapshot"], place))

    assert ended.text == "added\nscored"
    copied = place / "models" / "added"
    assert (copied / "model.safetensors").is_file()
    assert not any(path.is_symlink() for path in copied.rglob("*"))
