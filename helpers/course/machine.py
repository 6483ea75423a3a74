"""Asks a fresh Python where it would run the notebooks, so that the process that asks decides nothing itself."""

import json
import os
import subprocess
import sys

from . import ROOT


def ask() -> dict:
    """Returns `torch` and `triton` (versions), `gpu` (the one that torch sees, or None) and `interpreted`.

    Raises RuntimeError with the reason if helpers cannot be imported there.
    """
    command = [sys.executable, "-m", "helpers.course.machine"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    answer = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"problem": done.stderr[-2000:]}
    if "problem" in answer:
        raise RuntimeError(answer["problem"])
    return answer


def kernel_environment() -> dict[str, str]:
    """The user's environment for a notebook's kernel, with the repository first on PYTHONPATH."""
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def _answer() -> dict:
    """In the child. Whether there is a GPU is asked of torch alone, so that a fault in helpers cannot hide one."""
    try:
        import torch

        kind = next((name for name in ("cuda", "xpu") if torch.get_device_module(name).is_available()), None)
        gpu = kind and torch.get_device_module(kind).get_device_name()

        from helpers.device import INTERPRETED

        import triton
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {error}"}
    return {"torch": torch.__version__, "triton": triton.__version__, "gpu": gpu, "interpreted": INTERPRETED}


if __name__ == "__main__":
    print(json.dumps(_answer()))
