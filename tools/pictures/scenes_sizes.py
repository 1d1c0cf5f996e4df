"""The window at the sizes that people have: few and many labels, each panel, long and right-to-left texts."""

from __future__ import annotations

import os
from typing import Any

from pictures.material import LANGUAGES, many_grouped_labels, sample_texts
from pictures.studio import SCALED, Studio

SEVEN = (
    "Late delivery",
    "Damaged parcel",
    "Lost parcel",
    "Courier praise",
    "Wrong invoice amount",
    "App problem",
    "Customer service not reachable",
)
TWENTY_TWO = (
    *(f"Delivery > {name}" for name in ("Late", "Lost", "Wrong address", "Left outside", "Too early")),
    *(f"Parcel > {name}" for name in ("Damaged outside", "Contents broken", "Opened", "Wrong contents")),
    *(f"Service > {name}" for name in ("Not reachable", "Rude", "Helpful", "Wrong information")),
    *(f"Payment > {name}" for name in ("Wrong amount", "Refund missing", "Customs fee")),
    "Courier praise",
    "App problem",
    "Locker full",
    "Packaging waste",
    "Tracking out of date",
    "Other",
)
LONG = (
    "I ordered the parcel on the third of May and was promised a delivery on the fifth by noon, which is "
    "why I stayed at home for the whole day and waited. Nobody came, nobody called, and the tracking page "
    "said “out for delivery” until ten in the evening. The next morning the status changed to “recipient "
    "not at home”, which is simply untrue: my door bell works, my name is on it, and my neighbour was on "
    "the stairs nearly all the time. When I rang the hotline I was put on hold for forty minutes, then a "
    "friendly person told me that the driver has to make ninety stops before noon. I do not blame the "
    "driver. I would like to know who pays for the medicine in the parcel, which had to be kept cool and "
    "is worthless now. "
) * 2
LONG_ARABIC = " ".join(text for text, _label in LANGUAGES[:2]) * 9
SIZES = ((1280, 800), (1024, 700))
UHD = (1920, 1080)  # of a 4K screen at 200 %


def labels_224() -> list[str]:
    """Two hundred and twenty-four labels in groups."""
    names = many_grouped_labels()
    return [*names, *(f"Group {n % 4} > kind {n}" for n in range(224 - len(names)))]


def _open(studio: Studio, labels: tuple[str, ...] | list[str]) -> None:
    name = f"Feedback with {len(labels)} labels.csv"
    texts = [LONG, LONG_ARABIC, *(text for text, _label in LANGUAGES[2:]), *sample_texts()[:60]]
    studio.open_table(studio.table(name, texts), labels)
    studio.score()


def _grab(studio: Studio, name: str, mode: str) -> None:
    studio.theme.set_mode(mode)
    studio.rest(0.3)
    scale = os.environ.get(SCALED, "1")
    file = studio.folder / f"{name}-{mode}{'' if scale == '1' else '-200'}.{studio.ending}"
    if not studio.window.grab().save(str(file), quality=100 if studio.ending == "webp" else 0):
        raise OSError(f"{file} cannot be written")
    print(file, flush=True)
    studio.theme.set_mode("light")


def _at_sizes(studio: Studio, count: int, panels: tuple[str, ...]) -> None:
    controllers: Any = studio.controllers
    for size in SIZES if os.environ.get(SCALED, "1") == "1" else (UHD,):
        studio.window.resize(*size)
        studio.rest(0.3)
        name = f"{count}-labels-{size[0]}x{size[1]}"
        for panel in ("", *panels):
            studio.window.close_panels()
            if panel:
                studio.bring(panel)
            for row, what in ((1, "long"), (2, "rtl"), (14, "short")):
                if what != "long" and (panel or size == (1024, 700)):
                    continue
                controllers.navigation.set_current_row(row)
                studio.rest(0.3)
                modes = ("light", "dark") if size == (1280, 800) and what == "long" else ("light",)
                for mode in modes:
                    _grab(studio, "-".join(filter(None, (name, panel.lower().replace(" ", "-"), what))), mode)


def sizes_7(studio: Studio) -> None:
    """Seven labels, with each panel."""
    _open(studio, SEVEN)
    _at_sizes(studio, 7, ("Fine-tune", "Evaluate", "Findings", "Map", "Duplicates", "Jobs and log"))


def sizes_22(studio: Studio) -> None:
    """Twenty-two labels in groups."""
    _open(studio, TWENTY_TWO)
    _at_sizes(studio, 22, ("Evaluate",))


def sizes_224(studio: Studio) -> None:
    """Two hundred and twenty-four labels."""
    _open(studio, labels_224())
    _at_sizes(studio, 224, ("Evaluate",))


SCENES = {"sizes_7": sizes_7, "sizes_22": sizes_22, "sizes_224": sizes_224}
