from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.research.collections import list_sets, load_set

ROWS = [("a goal", "Sport", "train"), ("a film", "Movies", "test"), ("a song\u2028\u0085", "Music", "test")]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for part, name in (("train", "news"), ("train", "chat"), ("validation", "mail"), ("benchmark", "wire")):
        (tmp_path / part).mkdir(exist_ok=True)
        with gzip.open(tmp_path / part / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            for text, label, split in ROWS:
                file.write(
                    json.dumps({"text": text, "label": label, "split": split}, ensure_ascii=False) + "\n"
                )
    names = {"news": {"Sport": "sport", "Movies": "arts", "Music": None}, "mail": {"Sport": "sport"}}
    (tmp_path / "paper_labels.json").write_text(json.dumps(names))
    return tmp_path


def test_sets_by_part(data: Path) -> None:
    assert list_sets(data, "train") == ("chat", "news")
    assert list_sets(data, "validation") == ("mail",)
    assert list_sets(data, "benchmark") == ("wire",)


def test_a_set(data: Path) -> None:
    loaded = load_set(data, "wire")
    assert (loaded.name, loaded.part, len(loaded)) == ("wire", "benchmark", 3)
    assert list(zip(loaded.texts, loaded.labels, strict=True)) == [(text, label) for text, label, _ in ROWS]
    assert loaded.label_names == ("Sport", "Movies", "Music")


def test_a_split(data: Path) -> None:
    assert load_set(data, "news", split="test").texts == ("a film", "a song\u2028\u0085")
    with pytest.raises(UserError, match="split"):
        load_set(data, "news", split="validation")


def test_the_papers_names_drop_what_it_leaves_out(data: Path) -> None:
    loaded = load_set(data, "news", paper_labels=True)
    assert (loaded.texts, loaded.labels) == (("a goal", "a film"), ("sport", "arts"))
    assert load_set(data, "wire", paper_labels=True).labels == ("Sport", "Movies", "Music")  # it names none
    with pytest.raises(UserError, match="Movies"):
        load_set(data, "mail", paper_labels=True)


def test_what_is_not_there(data: Path, tmp_path: Path) -> None:
    for part in ("everything", "train-test"):
        with pytest.raises(UserError, match="no part"):
            list_sets(data, part)
    with pytest.raises(UserError, match="no sets"):
        list_sets(tmp_path / "elsewhere", "train")
    with pytest.raises(UserError, match="no set"):
        load_set(data, "missing")
    (data / "paper_labels.json").unlink()
    with pytest.raises(UserError, match=r"paper_labels\.json"):
        load_set(data, "news", paper_labels=True)


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b"no json\n"), gzip.compress(b'{"text": "x"}\n')]
)
def test_damaged_sets(data: Path, content: bytes) -> None:
    (data / "train" / "news.jsonl.gz").write_bytes(content)
    with pytest.raises(UserError, match=r"news\.jsonl\.gz"):
        load_set(data, "news")
