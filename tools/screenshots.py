"""Make the pictures of the window: every screen and state, from a scripted state, offscreen, light and dark.

Usage: screenshots.py [--scene NAME ...] [--scale 100|200] [--format webp|png] [FOLDER]
       screenshots.py --guide [--scene NAME ...]

FOLDER is build/screenshots where none is given. Needs the bundled model: what is shown is what it says. Every
picture comes at 100 % and at 200 %. Each scene has a process and a home of its own: none sees what another
left, and Qt reads the scale once. Nothing of the user's is read or written. --guide makes those of the user
guide alone, in light, into docs/pictures.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from itertools import product
from pathlib import Path

from sce_desktop.core.i18n import LANGUAGES, set_language

_LANGUAGE = "SCE_PICTURES_LANGUAGE"
ROOT = Path(__file__).parents[1]
set_language(os.environ.get(_LANGUAGE, "en"), ROOT / "resources" / "locale")  # before the window's modules

from pictures import (  # noqa: E402
    scenes_figures,
    scenes_first,
    scenes_labels,
    scenes_languages,
    scenes_limits,
    scenes_panels,
    scenes_review,
    scenes_sizes,
    scenes_window,
)
from pictures.studio import SCALED, Finished, Studio  # noqa: E402

SCENES = {
    **scenes_window.SCENES,
    **scenes_labels.SCENES,
    **scenes_panels.SCENES,
    **scenes_review.SCENES,
    **scenes_figures.SCENES,
    **scenes_languages.SCENES,
    **scenes_sizes.SCENES,
    **scenes_limits.SCENES,
    **scenes_first.SCENES,
}


GUIDE = {
    "suggestions": ("suggestions",),
    "start": ("start",),
    "imports": ("import",),
    "main_window": ("main", "disagreeing", "export"),
    "label_dialogs": ("label-details",),
    "models": ("models",),
    "evaluate": ("evaluate",),
    "audit": ("audit-dialog",),
    "findings": ("findings",),
    "finetune": ("versions",),
    "focus": ("focus",),
    "final": ("final-labels",),
    "columns": ("column-filter",),
    "map": ("map-selected",),
    "duplicates": ("duplicates",),
    "german": ("german-scores", "german-finetune"),
    "korean": ("korean-import", "korean-review"),
    "arabic": ("arabic-review",),
}
"""The pictures of the user guide, by the scene that makes them."""
GUIDE_FOLDER = ROOT / "docs" / "pictures"


def play(scene: str, folder: Path, ending: str, *, guide: bool) -> None:
    """Make the pictures of one scene in this process; for the ``guide`` those of its alone, in light."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"QT_QPA_PLATFORM": "offscreen", "SCE_DESKTOP_HOME": home, "HF_HUB_OFFLINE": "1"}
        studio = Studio(folder, Path(home), ending, only=GUIDE[scene] if guide else None)
        try:
            with suppress(Finished):
                SCENES[scene](studio)
        finally:
            studio.close()


def main() -> int:
    """Make the scenes that were asked for, and name those that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--format", choices=("webp", "png"), default="webp", help="webp is a third as large")
    parser.add_argument("--scene", action="append", choices=SCENES, metavar="NAME", help=", ".join(SCENES))
    parser.add_argument("--scale", choices=("100", "200"), help="per cent; both where none is given")
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="of the window")
    parser.add_argument("--guide", action="store_true", help="the pictures of the user guide alone, in light")
    args = parser.parse_args()
    if args.guide:
        args.folder, args.scale, args.format = GUIDE_FOLDER, "100", "webp"
        args.scene = args.scene or list(GUIDE)
    folder: Path = args.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    scenes, scales = args.scene or list(SCENES), [args.scale] if args.scale else ["100", "200"]
    if len(scenes) == len(scales) == 1 and os.environ.get(SCALED) == str(int(scales[0]) // 100):
        play(scenes[0], folder, args.format, guide=args.guide)
        return 0
    failed = []
    for scene, scale in product(scenes, scales):
        command = [sys.executable, __file__, "--scene", scene, "--scale", scale, "--format", args.format]
        if args.guide:
            command.append("--guide")
        env = os.environ | {SCALED: str(int(scale) // 100), _LANGUAGE: args.language}
        if subprocess.run([*command, str(folder)], env=env, check=False).returncode:
            failed.append(f"{scene} at {scale} %")
    if failed:
        print(f"Failed: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
