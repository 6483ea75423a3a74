"""Brings reveal.js with npm, once, checked against its published hash."""

import base64
import hashlib
import io
import subprocess
import tarfile
from pathlib import Path

from . import ROOT, files

PACKAGE, VERSION = "reveal.js", "5.2.1"
# As the registry publishes it: `npm view reveal.js@5.2.1 dist.integrity`.
SHA512 = "r7//6mIM5p34hFiDMvYfXgyjXqGRta+/psd9YtytsgRlrpRzFv4RbH76TXd2qD+7ZPZEbpBDhdRhJaFgfQ7zNQ=="


class DownloadError(Exception):
    """The package could not be had, or is not the one that was published; the message says what to do."""


def archive(root: Path = ROOT) -> bytes:
    """The package's archive, in build/npm from the first call on. Raises DownloadError."""
    kept = root / "build" / "npm" / f"{PACKAGE}-{VERSION}.tgz"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(["npm", "pack", "--silent", f"{PACKAGE}@{VERSION}"], cwd=kept.parent, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            todo = f"install Node.js, look at the network, or fetch {kept.name} elsewhere and put it into build/npm"
            raise DownloadError(f"npm could not fetch {PACKAGE} {VERSION} ({error}): {todo}") from error
    data = kept.read_bytes()
    if base64.b64encode(hashlib.sha512(data).digest()).decode() != SHA512:
        raise DownloadError(f"build/npm/{kept.name} is not what was published, its hash differs: remove it")
    return data


def unpack(prefixes: tuple[str, ...], folder: Path, root: Path = ROOT) -> None:
    """Writes the package's files whose paths begin with one of `prefixes` into `folder`. Raises DownloadError."""
    with tarfile.open(fileobj=io.BytesIO(archive(root))) as package:
        for member in package.getmembers():
            path = member.name.partition("/")[2]
            if member.isfile() and path.startswith(prefixes) and ".." not in Path(path).parts:
                files.write(folder / path, package.extractfile(member).read())
