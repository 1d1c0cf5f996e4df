"""In how many bits text models multiply, and what this machine's CPU or GPU is fast in.

"float32" runs everywhere. "bfloat16" and "int8" need a CPU with instructions for them: torch would emulate
them elsewhere, slower than float32. What they cost in accuracy: docs/adr/0017-fewer-bits.md. NVIDIA's cards
have "float16" since Volta and "bfloat16" since Ampere: docs/adr/0018-half-precision-on-a-gpu.md.
"""

from __future__ import annotations

import torch

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, any_of
from sce_desktop.core.precision import AUTO, BFLOAT16, FLOAT16, FLOAT32, INT8, PRECISIONS

_INSTRUCTIONS = {
    "AMX": "_is_amx_tile_supported",
    "AVX-512 BF16": "_is_avx512_bf16_supported",
    "AVX-512 VNNI": "_is_vnni_supported",
}
"""What torch calls each of them; a torch or a system that cannot tell has none of them for us."""
_NEEDS = {BFLOAT16: ("AMX", "AVX-512 BF16"), INT8: ("AVX-512 VNNI",)}  # any of these
_CAPABILITY = {FLOAT16: (7, 0), BFLOAT16: (8, 0)}
"""The first of NVIDIA's compute capabilities with tensor cores for it."""
_AUTOMATIC = (FLOAT16, BFLOAT16)
"""What is used without being asked for, the first that there is: no accuracy to speak of is lost."""


def cpu_instructions() -> tuple[str, ...]:
    """Return which instructions for fewer bits this CPU has and torch can use."""
    return tuple(name for name, asks in _INSTRUCTIONS.items() if _has(asks))


def _has(asks: str) -> bool:
    ask = getattr(torch.cpu, asks, None)
    return torch.backends.mkldnn.is_available() and ask is not None and bool(ask())


def precisions(device: torch.device) -> tuple[str, ...]:
    """Return what text models can run in on ``device``, the most exact first."""
    fast = _fast_on_gpu(device) if device.type == "cuda" else _fast_on_cpu() if device.type == "cpu" else ()
    return tuple(name for name in PRECISIONS if name == FLOAT32 or name in fast)


def _fast_on_cpu() -> list[str]:
    here = cpu_instructions()
    fast = [name for name, needs in _NEEDS.items() if any(need in here for need in needs)]
    if not hasattr(torch.ops.onednn, "qlinear_pointwise"):
        fast = [name for name in fast if name != INT8]
    return fast


def _fast_on_gpu(device: torch.device) -> list[str]:
    if torch.version.cuda is None:  # one of AMD's, which torch calls so too
        return []
    capability = torch.cuda.get_device_capability(device)
    return [name for name, first in _CAPABILITY.items() if capability >= first]


def choose_precision(asked: str, device: torch.device) -> str:
    """Return the precision ``asked`` for on ``device``; auto: the fastest that costs no accuracy to speak of.

    Raises:
        UserError: The device has no instructions for it.
    """
    possible = precisions(device)
    if asked == AUTO:
        return next((name for name in _AUTOMATIC if name in possible), FLOAT32)
    if asked not in possible:
        names = any_of([AUTO, *possible])
        raise UserError(
            _(
                "The device {type} has no instructions for {asked}: choose {names}.",
                type=device.type,
                asked=asked,
                names=names,
            )
        )
    return asked
