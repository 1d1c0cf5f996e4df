"""What the pictures show: texts and labels, easy ones and those that a window may stumble over."""

from __future__ import annotations

import csv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "sample"
_FAULTS = ("late", "lost", "broken", "rude", "wrong", "slow", "dear", "closed", "full", "missing")
LANGUAGES = (
    ("وصلت الشحنة متأخرة ثلاثة أيام ولم يتصل بي أحد.", "تأخير"),
    ("السائق كان لطيفًا جدًا وحمل الطرد إلى الطابق الرابع (4).", "شكر"),
    ("包裹到的时候已经碎了，客服三天没有回复。", "损坏"),
    ("快递员很有礼貌，谢谢！", "表扬"),
    ("荷物が一週間届いていません。どこにありますか？", "遅延"),
    ("📦💥 box is flat as a pancake 😡😡", "damaged"),
    ("Best courier ever ❤️🙏 – thank you so much 👨‍👩‍👧‍👦", "praise"),
    ("החבילה הגיעה פתוחה, PO-4711 חסר.", "damaged"),
    ("Ο οδηγός άφησε το δέμα στη βροχή.", "damaged"),
    ("पार्सल गलत पते पर पहुँचा।", "address"),
    ("The app says مرحبا and then closes by itself", "app"),
)
LANGUAGE_LABELS = (
    "تأخير في التسليم",
    "损坏的包裹",
    "❤️ Praise",
    "配達の遅れ",
    "App problem 📱",
    "Wrong address",
)
GROUPED_LABELS = (
    "Delivery > Late",
    "Courier praise",
    "Delivery > Lost",
    "Parcel > Damaged on the outside",
    "Parcel > Damaged > Contents broken",
    "Delivery",
    "Delivery > Wrong address, although the customer had given the right one",
    "App problem",
    "الدعم > الهاتف",
)
LONG_LABELS = (
    "Delivered late although the customer had been promised a fixed day by telephone",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenversandverzögerung",
    "Parcel damaged on the outside, contents complete and usable, no replacement wanted",
    "Parcel damaged, contents broken or missing, customer asks for the money back",
    "x",
)


def sample_texts() -> list[str]:
    """Return the texts of the bundled sample."""
    with (SAMPLE / "parcel_feedback.csv").open(encoding="utf-8", newline="") as file:
        return [row["message"] for row in csv.DictReader(file)]


def sample_labels() -> list[str]:
    """Return the labels of the bundled sample."""
    return (SAMPLE / "labels.txt").read_text(encoding="utf-8").split("\n")[:8]


def many_labels() -> list[str]:
    """Return two hundred labels."""
    places = ("depot", "driver", "app", "invoice", "locker", "customs", "phone", "label", "van", "shop")
    names = [f"{place} {fault}" for place in places for fault in _FAULTS]
    return [*names, *(f"not {name}" for name in names)]


def many_grouped_labels() -> list[str]:
    """Return two hundred labels in groups, with long names and many scripts among them."""
    places = ("depot", "driver", "app", "invoice", "locker", "السائق", "电话", "label 📦", "van", "shop")
    names = [f"{place} > {fault}" for place in places for fault in _FAULTS]
    return [*names, *LONG_LABELS, *LANGUAGE_LABELS, *(f"not {name}" for name in names[:89])]


GERMAN = [
    "Mein Paket ist immer noch nicht angekommen, obwohl es seit Montag unterwegs ist.",
    "Der Fahrer war sehr freundlich und hat sogar geklingelt.",
    "Die Rechnung ist falsch, bitte korrigieren Sie den Betrag.",
    "Das Glas war zerbrochen, der Karton aber unversehrt.",
    "Ich möchte meine Bestellung stornieren.",
    "Seit der neuen Version stürzt die App beim Start ab.",
]
