"""Writes the README's picture, a stored output of a lecture, to a file: `python -m helpers.course.picture`."""

import base64

from . import ROOT, notebooks

SOURCE = ("03_fused_swiglu.ipynb", "dataflow")  # notebook, cell id
TARGET = ROOT / ".github" / "dataflow.png"


def stored() -> bytes:
    """The PNG stored in the lecture's cell. Raises LookupError if the cell has no stored picture."""
    name, wanted = SOURCE
    for cell in notebooks.read(ROOT / "notebooks" / name).cells:
        for output in cell.get("outputs", []) if cell.get("id") == wanted else []:
            if "image/png" in output.get("data", {}):
                return base64.b64decode(output["data"]["image/png"])
    raise LookupError(f"notebooks/{name}: cell {wanted} has no stored picture; run `make execute` first")


if __name__ == "__main__":
    TARGET.write_bytes(stored())
