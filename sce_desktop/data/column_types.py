"""The types of a parquet file's columns, kept while its cells are texts, so that it can be written again."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.tables import Cell
from sce_desktop.data.parquet import arrow_text

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ClassNames:
    """The names that Hugging Face keeps in the metadata for the numbers of a column of labels."""

    names: tuple[str, ...]

    def text(self, number: Any) -> Any:
        """Return the name of a number; -1 is no label, other numbers without a name stay."""
        if isinstance(number, int) and 0 <= number < len(self.names):
            return self.names[number]
        return "" if number == -1 and "" not in self.names else number

    def number(self, text: Any) -> Any:
        """Return the number that `text` named."""
        if isinstance(text, str) and text in self.names:
            return self.names.index(text)
        return -1 if text == "" else text

    @property
    def sentence(self) -> str:
        """What to say of it: the first names."""
        shown = ", ".join(f"{number} = {name}" for number, name in enumerate(self.names[:3]))
        return f"{shown}{', …' if len(self.names) > 3 else ''}"


@dataclass(frozen=True)
class ColumnTypes:
    """The fields of a table's first columns (None: texts), and what its file says about them besides."""

    fields: tuple[pa.Field | None, ...]
    metadata: dict[bytes, bytes] = field(default_factory=dict)

    @classmethod
    def of_schema(cls, schema: pa.Schema) -> Self:
        """Return the types of the columns of a file, as far as texts can become their values again."""
        return cls(
            tuple(one if arrow_text.restorable(one.type) else None for one in schema),
            {key: value for key, value in (schema.metadata or {}).items() if key != b"about"},
        )

    def to_text(self) -> str:
        """Return them as a text that `from_text` reads."""
        import pyarrow as pa

        fields = [pa.field("", pa.null()) if one is None else one for one in self.fields]
        known = bytes(one is not None for one in self.fields)
        stored = pa.schema(fields, {**self.metadata, b"sce:known": known}).serialize().to_pybytes()
        return base64.b64encode(stored).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        """Return what `to_text` wrote; None if it did not, as in a project that was changed outside."""
        import pyarrow as pa

        try:
            schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text, validate=True)))
            metadata = dict(schema.metadata or {})
            known = metadata.pop(b"sce:known", b"")
            fields = [
                one if is_known and arrow_text.restorable(one.type) else None
                for one, is_known in zip(schema, known, strict=True)
            ]
        except (ValueError, OSError, pa.ArrowException):
            return None
        return cls(tuple(fields), metadata)

    def picked(self, places: Sequence[int]) -> Self:
        """Return the types of the columns at ``places``, in that order."""
        return type(self)(tuple(self.fields[place] for place in places), self.metadata)

    def shared_with(self, other: Self | None) -> Self:
        """Return the types that both have, column by column."""
        theirs = other.fields if other is not None else ()
        if len(theirs) != len(self.fields):
            theirs = (None,) * len(self.fields)
        return type(self)(
            tuple(
                mine if mine is not None and their is not None and mine.equals(their) else None
                for mine, their in zip(self.fields, theirs, strict=True)
            ),
            self.metadata,
        )

    def class_names(self) -> dict[int, ClassNames]:
        """Return the names of labels by the place of their column."""
        found = {}
        features = _features(self.metadata)
        for place, one in enumerate(self.fields):
            if one is not None and (names := _names_of(features.get(one.name), one.type)):
                found[place] = ClassNames(names)
        return found

    def maker(self, place: int) -> Callable[[Sequence[Any]], pa.Array]:
        """Return what makes the values of a column from their texts.

        UserError if they are not such: the project they come from was changed outside.
        """
        import pyarrow as pa

        wanted = self.fields[place]
        assert wanted is not None
        names = self.class_names().get(place)

        def make(cells: Sequence[Cell]) -> pa.Array:
            try:
                texts = cells if names is None else [_with_numbers(cell, names) for cell in cells]
                return arrow_text.array_of(texts, wanted.type)
            except (ValueError, TypeError, KeyError, ArithmeticError, AttributeError, pa.ArrowException):
                raise UserError(
                    _(
                        "“{column}” holds cells that are not of type {type}: write CSV or JSON Lines "
                        "instead.",
                        column=wanted.name,
                        type=wanted.type,
                    )
                ) from None

        return make


def with_names(cells: Sequence[Cell], names: ClassNames) -> list[Cell]:
    """Return the texts of a column of numbers, or of lists of them, with the names of the numbers."""
    return [cell if cell is None else _with_names(cell, names) for cell in cells]


def _with_names(cell: str, names: ClassNames) -> str:
    found = json.loads(cell)
    if isinstance(found, list):
        inner = [names.text(item) if item != -1 else item for item in found]
        return json.dumps(inner, ensure_ascii=False)
    return str(names.text(found))


def _with_numbers(cell: Cell, names: ClassNames) -> Cell:
    if cell is None:
        return None
    if cell.startswith("[") and cell not in names.names:
        return json.dumps([names.number(item) for item in json.loads(cell)])
    return str(names.number(cell))


def _features(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
    except (KeyError, ValueError, TypeError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def _names_of(feature: Any, kind: pa.DataType) -> tuple[str, ...]:
    """Return the names of a feature that is a class label, or a list of them; none for anything else."""
    import pyarrow as pa

    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        if isinstance(feature, list) and feature:
            feature = feature[0]
        elif isinstance(feature, dict):
            feature = feature.get("feature")
        kind = kind.value_type
    if not isinstance(feature, dict) or feature.get("_type") != "ClassLabel" or not pa.types.is_integer(kind):
        return ()
    names = feature.get("names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return ()
    return tuple(names) if len(set(names)) == len(names) else ()
