"""Decides, before triton is imported, where kernels run: on a GPU, or in Triton's interpreter on the CPU.

The decision is made once, when this module is first imported. A `TRITON_INTERPRET` that the user set wins.
"""

import os
import sys
import warnings

import torch

from . import caches

BACKENDS = ("cuda", "xpu")  # what Triton compiles for: NVIDIA, AMD (torch also calls it cuda) and Intel
YES, NO = ("1", "true", "yes", "on", "y"), ("0", "false", "no", "off", "n", "")
ASKED = os.environ.get("TRITON_INTERPRET")  # as the user set it, before choose() does
RESTART = "Restart the kernel and run the cell that imports helpers first (a start-up file may import triton, too)."


def gpu() -> torch.device | None:
    """The current GPU that Triton can compile for, with its index, or None."""
    if not torch.accelerator.is_available():
        return None
    if torch.accelerator.current_accelerator().type not in BACKENDS:
        return None
    return torch.device(torch.accelerator.current_accelerator().type, torch.accelerator.current_device_index())


def interpreter_requested() -> bool | None:
    """What `TRITON_INTERPRET` asks for, read as Triton reads it; None if it is not set.

    Raises RuntimeError if it says neither yes nor no.
    """
    value = os.environ.get("TRITON_INTERPRET")
    if value is None:
        return None
    if value.strip().lower() not in YES + NO:
        raise RuntimeError(f"TRITON_INTERPRET is {value!r}: set it to 1 or 0, or unset it, then restart the kernel.")
    return value.strip().lower() in YES


def choose() -> tuple[torch.device, bool]:
    """Returns (DEVICE, INTERPRETED), and sets `TRITON_INTERPRET` where kernels are to be interpreted.

    A class that shares a card sets `COURSE_GPU_FRACTION`: what one process may take of its memory, from 0 to 1.
    Raises RuntimeError if the choice cannot work: compilation asked for without a GPU, the interpreter chosen
    although `COURSE_REQUIRE_GPU=1` (a test run on a GPU sets it), or triton already imported in the other mode.
    """
    found, requested = gpu(), interpreter_requested()
    interpreted = found is None if requested is None else requested
    if not interpreted and found is None:
        raise RuntimeError("TRITON_INTERPRET is set to 0, but torch sees no GPU. Unset it, then restart the kernel.")
    if interpreted and os.environ.get("COURSE_REQUIRE_GPU") == "1":
        why = "torch sees no GPU" if found is None else "TRITON_INTERPRET is set"
        raise RuntimeError(f"COURSE_REQUIRE_GPU=1, but kernels would run in the interpreter: {why}.")
    if interpreted:
        os.environ["TRITON_INTERPRET"] = "1"
    require_matching_triton(interpreted)
    if (share := os.environ.get("COURSE_GPU_FRACTION")) and not interpreted and found.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(float(share), found)
    return torch.device("cpu") if interpreted else found, interpreted


def require_matching_triton(interpreted: bool) -> None:
    """Raises RuntimeError if triton was imported earlier, in the other mode.

    Triton decorates its own library (`tl.sum`, `tl.sigmoid`, …) at import; switched later, some kernels break.
    """
    if "triton" not in sys.modules:
        return
    import triton
    import triton.language as tl

    if isinstance(tl.sum, triton.JITFunction) == interpreted:
        mode = "to compile" if interpreted else "to interpret"
        raise RuntimeError(f"triton was imported before helpers, and so is set up {mode} kernels. {RESTART}")


# Products and sums are fused, as they always were: from 3.9 on Triton warns unless it is said, from 3.10 on it is off.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
caches.find_room()
DEVICE, INTERPRETED = choose()

if INTERPRETED:  # numpy warns from inside Triton's interpreter where a GPU overflows to inf silently
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"triton\b")
