"""Where Triton and matplotlib keep their caches if the user's home cannot hold them: it is full, say, or read-only."""

import atexit
import os
import shutil
import tempfile

FOLDERS = {"TRITON_CACHE_DIR": ("TRITON_HOME", ".triton/cache"), "MPLCONFIGDIR": ("HOME", ".config/matplotlib")}


def find_room() -> None:
    """Names a temporary folder for each cache whose own cannot be written; where the user named one, it stays."""
    for name, (home, folder) in FOLDERS.items():
        usual = os.path.join(os.environ.get(home) or os.path.expanduser("~"), folder)
        if name not in os.environ and not _can_hold_a_file(usual):
            os.environ[name] = tempfile.mkdtemp(prefix="triton-cell-by-cell-")
            atexit.register(shutil.rmtree, os.environ[name], ignore_errors=True)


def _can_hold_a_file(folder: str) -> bool:
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            return file.write(bytes(4096)) > 0
    except OSError:
        return False
