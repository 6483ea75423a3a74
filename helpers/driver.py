"""What NVIDIA's driver says of itself, asked without torch."""

import re
import subprocess


def driver() -> dict:
    """The NVIDIA driver: its version and the newest CUDA version it can run."""
    try:
        text = subprocess.run(["nvidia-smi"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {"driver": None, "driver_cuda": None}
    found = [re.search(pattern, text) for pattern in (r"Driver Version: (\S+)", r"CUDA Version: (\S+)")]
    return dict(zip(("driver", "driver_cuda"), [match and match.group(1) for match in found], strict=True))
