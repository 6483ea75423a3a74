"""Writes the committed files that are made from notebooks: `python -m helpers.course.derived [--check]`.

They are the kernels, from lecture cells tagged `export`; the exercises, from the solutions; and the README's picture.
"""

import base64
import sys
from pathlib import Path

from . import ROOT, exercises, files, kernels, notebooks

PICTURE = (".github/dataflow.png", "03_fused_swiglu.ipynb", "dataflow")  # file; the notebook and cell that store it
WHERE = ("helpers/kernels/[a-z]*.py", "notebooks/exercises/*.ipynb")  # where every file is a derived one


def picture(root: Path = ROOT) -> dict[Path, bytes]:
    """The PNG that the lecture's cell stores. Raises LookupError if it stores none."""
    target, name, wanted = PICTURE
    cells = [cell for cell in notebooks.read(root / "notebooks" / name).cells if cell.get("id") == wanted]
    for output in cells[0].get("outputs", []) if cells else []:
        if "image/png" in output.get("data", {}):
            return {root / target: base64.b64decode(output["data"]["image/png"])}
    raise LookupError(f"notebooks/{name}: cell {wanted} has no stored picture; run `make execute` first")


def refresh(check: bool = False, root: Path = ROOT) -> list[str]:
    """Writes the files that differ, and says which; returns a line for each thing that is left to do by hand.

    With `check` nothing is written, and each difference is such a thing. Raises what the generators raise.
    """
    made = {**kernels.generate(root), **exercises.generate(root), **picture(root)}
    gone = {path for where in WHERE for path in root.glob(where)} - set(made)
    todo = [f"{path.relative_to(root).as_posix()}: no notebook makes it any more: remove it" for path in sorted(gone)]
    for path, content in made.items():
        data, shown = content.encode() if isinstance(content, str) else content, path.relative_to(root).as_posix()
        if path.exists() and path.read_bytes() == data:
            continue
        if check:
            todo.append(f"{shown}: it is not what its notebook makes: run `make derived`")
        else:
            files.write(path, data)
            print(f"wrote {shown}")
    return todo


def main(arguments: list[str]) -> int:
    try:
        todo = refresh(check=arguments == ["--check"])
    except (LookupError, OSError, RuntimeError, ValueError) as error:
        todo = [str(error)]
    print("\n".join(todo) or "kernels, exercises and picture are what the notebooks make")
    return 1 if todo else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
