"""Gathers every wheel the course needs beyond torch and triton: `python -m helpers.course.wheelhouse 3.12`.

For a GPU machine without internet that has torch and triton (a cluster node). build/wheelhouse holds the wheels for
Linux on x86-64 and the given Python, and `install`, which puts them into a folder of their own there.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import ROOT, canary, derived

PLATFORMS = ("manylinux_2_34", "manylinux_2_28", "manylinux_2_17", "manylinux2014", "manylinux1")
UNNEEDED = ("playwright", "zizmor", "check-jsonschema", "jupyterlab-rise")  # not needed to run or test notebooks
OWN = re.compile(r"(torch|triton|triton-windows|-e)\b")
TEST = (  # absolute: a notebook's kernel starts in the notebook's folder
    'PYTHONPATH="$PWD/build/site:$PWD" JUPYTER_PATH="$PWD/build/site/share/jupyter" '
    "COURSE_REQUIRE_GPU=1 python3 -m pytest"
)
INSTALL = f"""#!/usr/bin/env bash
# Puts the wheels beside this file into build/site, and says how to test with them. torch and triton stay the machine's.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
options=(--quiet --no-index --no-deps --no-compile --upgrade --target "$here/../site")
"${{PYTHON:-python3}}" -m pip install "${{options[@]}}" "$here"/*.whl
echo "installed into build/site. Now, in the course's folder:"
cat <<'END'
  {TEST}
END
"""


def wanted(root: Path = ROOT) -> list[str]:
    """The lines of environment.yml to gather."""
    return [line for line in canary.requirements(False, root) if not OWN.match(line) and _name(line) not in UNNEEDED]


def _name(line: str) -> str:
    return re.split(r"[=<>; ]", line)[0]


def gather(python: str, root: Path = ROOT) -> Path:
    """Downloads the wheels for that Python into build/wheelhouse, which is replaced when all are there.

    Raises CalledProcessError if pip cannot find one.
    """
    target = root / "build" / "wheelhouse"
    target.parent.mkdir(exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="wheelhouse-", dir=target.parent))
    try:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", fresh]
        command += ["--python-version", python, "--implementation", "cp"]
        for platform in PLATFORMS:
            command += ["--platform", f"{platform}_x86_64"]
        subprocess.run([*command, *wanted(root)], check=True)
        install = fresh / "install"
        install.write_text(INSTALL, encoding="utf-8")
        install.chmod(0o755)
        fresh.chmod(0o755)
        derived.swap(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not re.fullmatch(r"3\.\d+", arguments[0]):
        print("name the Python of the machine without internet: make wheelhouse PYTHON=3.12")
        return 1
    try:
        target = gather(arguments[0])
    except subprocess.CalledProcessError:
        print(f"a wheel for Python {arguments[0]} could not be had (pip says which, above)")
        return 1
    wheels = list(target.glob("*.whl"))
    size = sum(path.stat().st_size for path in wheels) / 1e6
    print(f"{len(wheels)} wheels, {size:.0f} MB, in build/wheelhouse")
    print("copy the course with it to the other machine, and there: build/wheelhouse/install")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
