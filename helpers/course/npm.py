"""Brings a package with npm, once, checked against its published hash."""

import base64
import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from . import ROOT

# name: version, sha512 as the registry publishes it (`npm view reveal.js@5.2.1 dist.integrity`)
PACKAGES = {
    "reveal.js": (
        "5.2.1",
        "r7//6mIM5p34hFiDMvYfXgyjXqGRta+/psd9YtytsgRlrpRzFv4RbH76TXd2qD+7ZPZEbpBDhdRhJaFgfQ7zNQ==",
    )
}


class DownloadError(Exception):
    """A package could not be had, or is not the one that was published; the message says what to do."""


def archive(name: str, root: Path = ROOT) -> bytes:
    """The package's archive, from build/npm if an earlier call left it there. Raises DownloadError."""
    version, sha512 = PACKAGES[name]
    kept = root / "build" / "npm" / f"{name}-{version}.tgz"
    if kept.exists() and _hash(kept.read_bytes()) == sha512:
        return kept.read_bytes()
    todo = f"or fetch it elsewhere and put it into build/npm/{kept.name}"
    npm = shutil.which("npm")
    if npm is None:
        raise DownloadError(f"npm, which fetches {name} {version}, is not installed: install Node.js, {todo}")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", "--pack-destination", folder, f"{name}@{version}"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        found = Path(folder, kept.name)
        if done.returncode or not found.exists():
            reason = (done.stderr.strip() or done.stdout.strip())[-200:]
            raise DownloadError(f"npm could not fetch {name} {version} ({reason}): look at the network, {todo}")
        data = found.read_bytes()
    if _hash(data) != sha512:
        raise DownloadError(f"what npm fetched as {name} {version} is not what was published: its hash differs")
    kept.parent.mkdir(parents=True, exist_ok=True)
    new = kept.with_suffix(".new")
    new.write_bytes(data)
    new.replace(kept)
    return data


def unpack(name: str, prefixes: tuple[str, ...], folder: Path, root: Path = ROOT) -> None:
    """Writes the package's files whose paths begin with one of `prefixes` into `folder`. Raises DownloadError."""
    with tarfile.open(fileobj=io.BytesIO(archive(name, root))) as package:
        for member in package.getmembers():
            path = member.name.partition("/")[2]
            if member.isfile() and path.startswith(prefixes) and ".." not in Path(path).parts:
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(package.extractfile(member).read())


def _hash(data: bytes) -> str:
    return base64.b64encode(hashlib.sha512(data).digest()).decode()
