"""Files of labels: one name a line, or a table or JSON with descriptions, synonyms, colours and shortcuts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sce_desktop.core.annotations import Label
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.labels import check_count, clean_labels
from sce_desktop.core.limits import MAX_LABELS_FILE
from sce_desktop.core.quoting import shortened
from sce_desktop.core.tables import Cell
from sce_desktop.core.text import size_text
from sce_desktop.data.atomic import replacing
from sce_desktop.data.csv.csv_grammar import without_end
from sce_desktop.data.csv.sniff import detect_encodings
from sce_desktop.data.csv.text_source import TextSource, file_size
from sce_desktop.data.exchange.qda_table import CODEBOOK_ENDING, read_codebook
from sce_desktop.data.json.json_values import text_of, valid
from sce_desktop.data.tables import open_table
from sce_desktop.data.writers import write_table

_TABLES = (".csv", ".tsv", ".xlsx")
_FIELDS = ("name", "description", "synonyms", "colour", "shortcut")
_OTHER_NAMES = {"label": "name", "color": "colour", "synonym": "synonyms"}
_DOCCANO = {"text": "name", "background_color": "colour", "suffix_key": "shortcut"}
_MOST_SHOWN = 60  # characters of what is no label
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def read_labels(path: str | Path) -> tuple[Label, ...]:
    """Read labels; their names are kept as they stand and never split.

    - .csv, .tsv and .xlsx: a column ``name`` (or ``label``), and ``description``, ``synonyms`` (a JSON
    list, or separated by semicolons), ``colour`` (#rrggbb), ``shortcut`` where there are such. A single
    column is all names, with or without that header. - .json: a list of names or of objects with these
    keys, or an object of names and descriptions. - .jsonl and .ndjson: a name or such an object a
    line. In both, labels that Doccano exported are read, too. - .qdc: the codes of a codebook of QDA-XML.
    - anything else: one name a line, without
    the blank lines.

    Raises UserError if the file is none of these, or its labels will not do (`core.labels.clean_labels`).
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending in _TABLES:
        return clean_labels(_from_table(path))
    if ending == CODEBOOK_ENDING:
        return read_codebook(path)
    if ending == ".json":
        return clean_labels(_from_json(path, "".join(_lines(path))))
    if ending in (".jsonl", ".ndjson"):
        lines = (line for line in _lines(path) if line.strip())
        return clean_labels(label for line in lines for label in _from_json(path, line, listed=False))
    names = map(without_end, _lines(path))
    return clean_labels(Label(name) for name in names if not is_blank(name))


def write_labels(path: str | Path, labels: Sequence[Label], *, overwrite: bool = True) -> None:
    """Write labels in the kind that ``path`` ends in, so that `read_labels` gives them back (without ids).

    A text file has names alone: colours are left out of it, too.

    Raises UserError if the file cannot be written, or is a text file and there is more than names to write.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending in _TABLES:
        rows = [
            (label.name, label.description, _joined(label.synonyms), label.colour, label.shortcut)
            for label in labels
        ]
        write_table(path, _FIELDS, [rows], overwrite=overwrite)
        return
    if ending == ".json":
        text = json.dumps([_as_object(label) for label in labels], ensure_ascii=False, indent=2) + "\n"
    elif all(_is_a_name(label) for label in labels):
        text = "".join(f"{label.name}\n" for label in labels)
    else:
        raise UserError(
            _(
                "{file} can hold only names of one line: choose CSV or JSON for descriptions, "
                "synonyms or shortcuts.",
                file=path.name,
            )
        )
    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _is_a_name(label: Label) -> bool:
    # A colour may be left out of a list of names: whoever reads it gives every label one.
    return label == Label(label.name, id=label.id, colour=label.colour) and len(label.name.splitlines()) == 1


def _lines(path: Path) -> list[str]:
    size = file_size(path)
    source = TextSource(path, size, detect_encodings(path, size)[0])
    lines: list[str] = []
    characters = 0

    def refuse(line: int, _message: object) -> None:
        raise UserError(_("{file} is not text (line {line}): save it as UTF-8.", file=path.name, line=line))

    for block in source.blocks(refuse):
        lines += block.lines
        characters += sum(map(len, block.lines))
        if characters > MAX_LABELS_FILE:
            raise UserError(
                _(
                    "{file} is too large for a file of labels: it may have up to {size} of text.",
                    file=path.name,
                    size=size_text(MAX_LABELS_FILE),
                )
            )
    return lines


def _from_table(path: Path) -> list[Label]:
    table = open_table(path)
    if len(table.columns) == 1 and _field(table.columns[0]) != "name":
        table = open_table(path, replace(table.options, header_row=0))
        fields = ["name"]
    else:
        fields = [_field(column) for column in table.columns]
    if "name" not in fields:
        raise UserError(
            _(
                "{file} has no column “name”: add one. Columns such as description and synonyms are "
                "optional.",
                file=path.name,
            )
        )
    labels: list[Label] = []
    for batch in table.batches():
        for row in batch:
            found: dict[str, Cell] = {}
            for field, cell in zip(fields, row, strict=True):
                found.setdefault(field, cell)
            if not all(map(is_blank, row)):
                synonyms = _split(found.get("synonyms") or "")
                labels.append(_label({**found, "synonyms": synonyms}, path))
                check_count(len(labels))
    return labels


def _from_json(path: Path, text: str, *, listed: bool = True) -> list[Label]:
    """Return the labels in ``text``, which is the whole file if ``listed``, else one line of it."""
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except KeyError as error:
        raise UserError(
            _(
                "{file}: “{key}” occurs twice in one object: remove one of them.",
                file=path.name,
                key=shortened(valid(error.args[0])),
            )
        ) from None
    except RecursionError:
        raise UserError(
            _("{file} nests too deeply: write names, or objects with a name.", file=path.name)
        ) from None
    except ValueError as error:
        raise UserError(_("{file} is not valid JSON: {reason}.", file=path.name, reason=error)) from None
    if not listed and isinstance(found, str | dict):
        found = [found]
    elif isinstance(found, dict):
        found = [{"name": name, "description": text} for name, text in found.items()]
    if not isinstance(found, list):
        raise UserError(
            _("{file} is not a list of labels: write names, or objects with a name.", file=path.name)
        )
    return [_label({"name": item} if isinstance(item, str) else item, path) for item in found]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. KeyError for a key that it says twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise KeyError(key)
        found[key] = value
    return found


def _label(found: Any, path: Path) -> Label:
    """Make a label of an object with the fields of one. Raises UserError for a field of the wrong kind."""
    if not isinstance(found, dict):
        raise UserError(
            _(
                "{file} has {found} among its labels: write names, or objects with a name.",
                file=path.name,
                found=_shown(found),
            )
        )
    if "text" in found and "name" not in map(_field, found):
        found = _of_doccano(found)
    fields = {_field(key): value for key, value in found.items()}
    synonyms = fields.get("synonyms") or []
    texts = {field: fields.get(field) or "" for field in _FIELDS if field != "synonyms"}
    name = texts["name"]
    if not isinstance(synonyms, list) or not all(
        isinstance(text, str) for text in (*texts.values(), *synonyms)
    ):
        raise UserError(
            _(
                "{file}: the label “{name}” has a field that is not text: put it in quotes.",
                file=path.name,
                name=shortened(name) if isinstance(name, str) else _shown(name),
            )
        )
    if texts["colour"] and not _COLOUR.fullmatch(texts["colour"]):
        raise UserError(
            _(
                "{file}: the colour “{colour}” of “{name}” is not valid: write it like #1a2b3c.",
                file=path.name,
                colour=shortened(texts["colour"]),
                name=shortened(name),
            )
        )
    return Label(name, texts["description"], tuple(synonyms), texts["colour"], texts["shortcut"])


def _of_doccano(found: dict[str, Any]) -> dict[str, Any]:
    label = {_DOCCANO.get(key, key): value for key, value in found.items()}
    prefix, key = found.get("prefix_key"), found.get("suffix_key")
    if isinstance(prefix, str) and isinstance(key, str) and prefix and key:
        label["shortcut"] = f"{prefix.title()}+{key.upper()}"
    return label


def _shown(found: Any) -> str:
    text = text_of(found)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _field(header: str) -> str:
    field = header.strip().casefold()
    return _OTHER_NAMES.get(field, field)


def _split(cell: str) -> list[str]:
    if cell.lstrip().startswith("["):
        try:
            return list(json.loads(cell))
        except (ValueError, RecursionError):
            pass
    return [part.strip() for part in cell.split(";") if part.strip()]


def _joined(synonyms: Sequence[str]) -> str:
    return json.dumps(list(synonyms), ensure_ascii=False) if synonyms else ""


def _as_object(label: Label) -> dict[str, Any]:
    """Return the fields that are set."""
    fields: dict[str, Any] = {field: getattr(label, field) for field in _FIELDS}
    return {field: value for field, value in fields.items() if value}
