"""Gathers every wheel the course needs beyond torch and triton: `python -m helpers.course.wheelhouse 3.12`.

For a GPU machine without internet that has torch and triton (a cluster node). build/wheelhouse holds the wheels for
Linux on x86-64 and the given Python, and `install`, which puts them into a folder of their own there.
"""

import email
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

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
site="$here/../site"
python="${{PYTHON:-python3}}"
found="$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
if [ "$found" != WANTED ]; then
    echo "these wheels are for Python WANTED, and $python is $found. Gather them again: make wheelhouse PYTHON=$found"
    exit 1
fi
"$python" -m pip install --quiet --no-index --no-deps --no-compile --upgrade --target "$site" "$here"/*.whl
PYTHONPATH="$site" "$python" -c 'import jupyterlab.labapp, matplotlib, nbconvert, nbval, pandas, pytest'
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
    """Downloads the wheels for that Python ("3.12") into build/wheelhouse, which is replaced when all are there.

    Raises CalledProcessError if pip cannot find one, and RuntimeError if it leaves one out.
    """
    target = root / "build" / "wheelhouse"
    target.parent.mkdir(exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="wheelhouse-", dir=target.parent))
    try:
        download(python, wanted(root), fresh)
        if more := missing(python, fresh):
            download(python, [*wanted(root), *more], fresh)
        if more := missing(python, fresh):
            raise RuntimeError(f"pip left out what Python {python} needs: {', '.join(more)}")
        install = fresh / "install"
        install.write_text(INSTALL.replace("WANTED", python), encoding="utf-8")
        install.chmod(0o755)
        fresh.chmod(0o755)
        derived.swap(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def download(python: str, requirements: list[str], folder: Path) -> None:
    """Puts wheels of these and of all they require into `folder`. Raises CalledProcessError."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", folder]
    command += ["--python-version", python, "--implementation", "cp"]
    for platform in PLATFORMS:
        command += ["--platform", f"{platform}_x86_64"]
    subprocess.run([*command, *requirements], check=True)


def missing(python: str, folder: Path) -> list[str]:
    """What the wheels in `folder` require on that Python, and is not there.

    pip reads conditions such as `python_version < "3.12"` by the Python that runs it, whatever --python-version says
    (https://github.com/pypa/pip/issues/11010).
    """
    there, required = set(), {}
    for wheel in folder.glob("*.whl"):
        there.add(parse_wheel_filename(wheel.name)[0])
        for requirement in map(Requirement, _metadata(wheel).get_all("Requires-Dist", [])):
            if requirement.marker is None or requirement.marker.evaluate(_environment(python)):
                required[canonicalize_name(requirement.name)] = f"{requirement.name}{requirement.specifier}"
    return [text for name, text in sorted(required.items()) if name not in there and not OWN.match(name)]


def _metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as files:
        name = next(name for name in files.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        return email.message_from_bytes(files.read(name))


def _environment(python: str) -> dict[str, str]:
    """What conditions are read by: CPython of that version on Linux and x86-64."""
    return {
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": "linux",
        "extra": "",
    }


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not re.fullmatch(r"3\.\d+", arguments[0]):
        print("name the Python of the machine without internet: make wheelhouse PYTHON=3.12")
        return 1
    try:
        target = gather(arguments[0])
    except subprocess.CalledProcessError:
        print(f"a wheel for Python {arguments[0]} could not be had (pip says which, above)")
        return 1
    except RuntimeError as error:
        print(error)
        return 1
    wheels = list(target.glob("*.whl"))
    size = sum(path.stat().st_size for path in wheels) / 1e6
    print(f"{len(wheels)} wheels, {size:.0f} MB, in build/wheelhouse")
    print("copy the course with it to the other machine, and there: build/wheelhouse/install")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
