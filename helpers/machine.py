"""Says what this machine can do for the course, what will be skipped, and what to do about each thing that is wrong."""

import importlib.metadata
import json
import os
import platform
import shutil

from .driver import driver

# Pairs that PyTorch's own Linux wheels require (the `triton` entry of each wheel's metadata).
KNOWN_PAIRS = {"2.10": "3.6", "2.11": "3.6", "2.12": "3.7", "2.13": "3.7", "2.14": "3.8", "2.15": "3.9"}
TRIED_ON, OLDEST_TRIED, OLDEST_SUPPORTED = "an H200 (compute capability 9.0)", (9, 0), (7, 5)
COMPILERS = (os.environ.get("CXX"), "c++", "g++", "clang++")
MISSING = "{} is not installed: run `make lab`, or install what environment.yml lists."
SKIPPED = "timings (recorded ones are shown), races, TF32, bf16 arithmetic, shared-memory limits, num_warps"


def doctor() -> None:
    """Prints the report of `python -m helpers`."""
    main([])


def main(arguments: list[str]) -> int:
    """Prints the report, with --json what was found on one line; returns 0 when the course can run here, else 1."""
    found = survey()
    print(json.dumps(found) if arguments == ["--json"] else as_text(found, advice(found)))
    return 0 if found["runs"] else 1


def survey() -> dict:
    """What was found: versions, GPU, mode, and `runs` (whether a kernel ran) or `problem` (why it did not)."""
    versions = {name: _version(name) for name in ("torch", "triton", "numpy")}
    compiler = next((c for c in COMPILERS if c and shutil.which(c)), None)
    named = {"system": platform.system(), "python": platform.python_version(), **versions, "compiler": compiler}
    return {**named, "requested": os.environ.get("TRITON_INTERPRET"), **driver(), **_gpu(), **_mode()}


def _version(name: str) -> str | None:
    for distribution in (name, f"{name}-windows"):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            pass
    return None


def _gpu() -> dict:
    """What torch says of the GPU; asked of torch alone, so that a fault in `helpers.device` cannot hide one."""
    try:
        import torch

        kind = next((k for k in ("cuda", "xpu") if torch.get_device_module(k).is_available()), None)
        if kind is None:
            return {"cuda": torch.version.cuda, "gpu": None}
        if kind == "xpu":
            return {"cuda": None, "gpu": torch.xpu.get_device_name()}
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    except Exception:
        return {"cuda": None, "gpu": None}
    return {
        "cuda": torch.version.cuda,
        "gpu": properties.name,
        "capability": (properties.major, properties.minor) if torch.version.cuda else None,
        "memory": properties.total_memory,
        "shared_memory": getattr(properties, "shared_memory_per_block_optin", None),
        "bf16": torch.cuda.is_bf16_supported(including_emulation=False),
    }


def _mode() -> dict:
    """Imports helpers.device and runs the tiny kernel, as `import helpers` does, but keeps the error."""
    try:
        from .device import INTERPRETED
        from .probe import prove_load_and_store

        prove_load_and_store()
    except Exception as error:
        return {"runs": False, "problem": f"{type(error).__name__}: {error}", "interpreted": None}
    return {"runs": True, "problem": None, "interpreted": INTERPRETED}


def advice(found: dict) -> list[str]:
    """One line for each thing that is wrong, most urgent first. `found` is what `survey` returns."""
    checks = (_on_triton, _on_torch, _on_mode, _on_card, _on_pair, _on_numpy, _on_machine)
    return [line for check in checks if (line := check(found))]


def _on_triton(found: dict) -> str | None:
    if found["triton"]:
        return None
    if found["system"] == "Darwin":
        return "There is no triton wheel for macOS: use a Linux container or a remote machine (README, macOS)."
    return MISSING.format("triton")


def _on_torch(found: dict) -> str | None:
    if not found["torch"]:
        return MISSING.format("torch")
    if found["gpu"] or not found["driver"]:
        return None
    if not found["cuda"]:
        built = f"this torch ({found['torch']}) was built without CUDA: reinstall torch with CUDA"
        return f"The NVIDIA driver works ({found['driver']}), but {built} (README, If something goes wrong)."
    if _older(found["driver_cuda"], found["cuda"]):
        runs = f"it runs CUDA up to {found['driver_cuda']}, and torch was built for {found['cuda']}"
        todo = "Update the driver, or install a torch built for an older CUDA."
        return f"The NVIDIA driver {found['driver']} is too old: {runs}. {todo}"
    return f"The NVIDIA driver works ({found['driver']}), but torch sees no GPU: look at CUDA_VISIBLE_DEVICES."


def _on_mode(found: dict) -> str | None:
    if found["gpu"] and found["interpreted"] and found["requested"]:
        return f"TRITON_INTERPRET={found['requested']} forces the interpreter although a GPU is there: unset it."
    return None


def _on_card(found: dict) -> str | None:
    capability = found.get("capability")
    if capability is None or capability >= OLDEST_TRIED:
        return None
    if capability < OLDEST_SUPPORTED:
        return f"{found['gpu']} is older than what Triton supports: set TRITON_INTERPRET=1 to use the interpreter."
    bf16 = "" if found["bf16"] else "; its bf16 is emulated"
    return f"{found['gpu']} is older than the card the course was tried on, {TRIED_ON}{bf16}. Its numbers will differ."


def _on_pair(found: dict) -> str | None:
    if not found["torch"] or not found["triton"] or pair_is_known(found["torch"], found["triton"]):
        return None
    return f"torch {found['torch']} with triton {found['triton']} is not a pair we know to work: see environment.yml."


def pair_is_known(torch_version: str, triton_version: str) -> bool:
    """Whether this triton is the one that this torch is released with."""
    return KNOWN_PAIRS.get(_minor(torch_version)) == _minor(triton_version)


def _on_numpy(found: dict) -> str | None:
    """Before 3.7, interpreting `range(n)` calls int() on an array of one element, which numpy 2.4 refuses."""
    versions = found["triton"], found["numpy"]
    if not (found["interpreted"] and all(versions)):
        return None
    if not _older(_minor(versions[0]), "3.7") or _older(_minor(versions[1]), "2.4"):
        return None
    said = "The interpreter of triton {} cannot run loops with numpy {}".format(*versions)
    return f'{said}: install an older one (pip install "numpy<2.4").'


def _on_machine(found: dict) -> str | None:
    if _older(_minor(found["python"]), "3.11"):
        return f"Python {found['python']} is too old: the course needs 3.11 or newer."
    if not found["compiler"]:
        return "No C++ compiler found: torch.compile and, on a GPU, Triton need one (on Debian or Ubuntu: g++)."
    return None


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _older(one: str | None, other: str) -> bool:
    return one is not None and tuple(map(int, one.split("."))) < tuple(map(int, other.split(".")))


def as_text(found: dict, lines: list[str]) -> str:
    """What was found and the advice, one thing a line."""
    known = found["torch"] and found["triton"] and pair_is_known(found["torch"], found["triton"])
    of_pair = f"({'a known pair' if known else 'not a known pair'} with this torch)"
    rows = [
        ("Python", found["python"]),
        ("torch", found["torch"] or "missing"),
        ("triton", f"{found['triton'] or 'missing'} {of_pair}"),
        ("numpy", found["numpy"] or "missing"),
        ("C++ compiler", os.path.basename(found["compiler"] or "missing")),
        ("GPU", found["gpu"] or "none that torch sees"),
        ("capability", found.get("capability") and "{}.{}".format(*found["capability"])),
        ("memory", found.get("memory") and f"{found['memory'] / 2**30:.0f} GiB"),
        ("shared memory", found.get("shared_memory") and f"{found['shared_memory'] / 1024:.0f} KiB per block"),
        ("bf16", {True: "yes", False: "no"}.get(found.get("bf16"))),
        ("driver", found["driver"] and f"{found['driver']} (CUDA up to {found['driver_cuda']})"),
        *_mode_rows(found),
        *[("advice", line) for line in lines],
    ]
    return "\n".join(f"{name:<14} {value}" for name, value in rows if value)


def _mode_rows(found: dict) -> list[tuple[str, str]]:
    if not found["runs"]:
        return [("mode", "the course cannot run here"), ("problem", found["problem"])]
    if not found["interpreted"]:
        return [("mode", "kernels are compiled and run on the GPU"), ("skipped", "nothing")]
    why = "TRITON_INTERPRET is set" if found["gpu"] else "no GPU"
    return [("mode", f"Triton's interpreter, on the CPU ({why})"), ("skipped", SKIPPED)]
