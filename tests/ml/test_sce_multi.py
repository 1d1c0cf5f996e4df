"""The committed multilingual model keeps what its card promises; it lies in a checkout, not in the wheel."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.quantised import QuantisedTable, unpacked
from sce_desktop.ml.hub import catalog, folders, model_places
from sce_desktop.ml.hub.known_models import SCE_MULTI
from sce_desktop.ml.sce.model import SCEModel

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(model_places.installed(SCE_MULTI) is None, reason="sce-multi is not here"),
]
TEXTS = {
    "deu": ("Die Mannschaft gewann das Finale im Elfmeterschießen.", "Sport"),
    "fra": ("Le Parlement a voté la nouvelle loi électorale.", "Politique"),
    "kor": ("의사들은 독감 예방 접종을 권한다.", "건강"),
    "arb": ("فاز الفريق بالمباراة النهائية بركلات الترجيح", "الرياضة"),
    "tha": ("แพทย์แนะนำให้ฉีดวัคซีนป้องกันไข้หวัดใหญ่", "สุขภาพ"),
    "cmn": ("国会投票通过了新的选举法。", "政治"),
}
NAMES = {
    "deu": ("Sport", "Politik", "Gesundheit", "Reisen"),
    "fra": ("Sport", "Politique", "Santé", "Voyages"),
    "kor": ("스포츠", "정치", "건강", "여행"),
    "arb": ("الرياضة", "السياسة", "الصحة", "السفر"),
    "tha": ("กีฬา", "การเมือง", "สุขภาพ", "การท่องเที่ยว"),
    "cmn": ("体育", "政治", "健康", "旅游"),
}


@pytest.fixture(scope="module")
def model() -> SCEModel:
    return SCEModel.from_pretrained(catalog.resolve(SCE_MULTI))


def test_its_files_are_small_and_whole(model: SCEModel) -> None:
    folder = catalog.resolve(SCE_MULTI)
    files = folders.weight_files(folder)
    assert all((folder / name).stat().st_size < 50_000_000 for name in files)
    assert folders.folder_size(folder) < 126_000_000
    assert catalog.verify(SCE_MULTI).ok
    assert isinstance(model.text_embedder, NativeEmbedder)
    assert (model.name, model.max_tokens, model.config.token_table) == ("sce-multi", 256, "embedder")


def test_its_token_table_stays_packed_and_gives_the_unpacked_rows(model: SCEModel) -> None:
    table = model.embedder.tokens
    assert isinstance(table, QuantisedTable)
    assert sum(t.nbytes for t in (table.blocks, table.scales)) < 55_000_000
    ids = torch.tensor([0, 5, 1000, 250_001])
    assert torch.equal(table(ids), unpacked(table.blocks[ids], table.scales[ids]))
    assert model.state_dict()["embedder.tokens.blocks"].dtype == torch.uint8


def test_text_of_sixty_languages_is_cut_as_sentencepiece_cuts_it(model: SCEModel) -> None:
    # The ids are SentencePiece's own, for XLM-R's pieces and its normalisation "nmt_nfkc".
    known = json.loads((Path(__file__).parent / "xlmr_tokens.json").read_text(encoding="utf-8"))
    assert len(known) > 60
    assert model.tokenizer is not None
    for language, examples in known.items():
        for text, ids in examples:
            found = model.tokenizer.encode(text, add_special_tokens=False).ids
            assert found == ids, (language, text)
    whole = model.tokenizer.encode("Bonjour")
    assert (whole.tokens[0], whole.tokens[-1]) == ("<s>", "</s>")


def test_label_order_permutes_the_columns_and_changes_nothing_else(model: SCEModel) -> None:
    texts = [text for text, _ in TEXTS.values()]
    labels = [Label(name) for names in NAMES.values() for name in names]
    labels = list({label.name: label for label in labels}.values())
    whole = model.probabilities(texts, labels).probabilities
    generator = np.random.default_rng(0)
    for _ in range(5):
        order = generator.permutation(len(labels))
        together = model.probabilities(texts, [labels[i] for i in order]).probabilities
        assert np.abs(together - whole[:, order]).max() < 1e-5


@pytest.mark.parametrize("language", TEXTS)
def test_it_reads_plain_texts_with_labels_of_their_language(model: SCEModel, language: str) -> None:
    text, right = TEXTS[language]
    found = model.probabilities([text], [Label(name) for name in NAMES[language]]).probabilities[0]
    assert NAMES[language][int(found.argmax())] == right
