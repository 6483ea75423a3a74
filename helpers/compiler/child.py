"""Compiles one kernel, as a script without helpers: a job in JSON comes in on stdin, the answer goes out on stdout.

`compiling.py` runs it, and says what it answers. It must not import helpers, which would switch the interpreter on.
"""

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


def _compile(job: dict, folder: str) -> dict:
    """Writes the sources to real files (the compiler reads them back) and compiles the kernel."""
    for name, text in job["files"].items():
        with open(os.path.join(folder, f"{name}.py"), "w", encoding="utf-8") as file:
            file.write(text)
    sys.path.insert(0, folder)
    source = ASTSource(
        fn=getattr(importlib.import_module(job["file"]), job["name"]),
        signature=job["signature"],
        constexprs={name: eval(text, {"tl": tl}) for name, text in job["constexprs"].items()},
        attrs={(i,): [["tt.divisibility", 16]] for i in job["divisible"]},
    )
    amd = job["target"].startswith("gfx")
    architecture = job["target"] if amd else int(job["target"].removeprefix("sm_"))
    target = GPUTarget("hip" if amd else "cuda", architecture, job["warp_size"])
    result = triton.compile(source, target=target, options={"num_warps": job["num_warps"]})
    usage = _amd_usage(result.asm["amdgcn"]) if amd else _nvidia_usage(result.asm["cubin"], folder)
    return {
        "ttgir": result.asm["ttgir"],
        "assembly": result.asm["amdgcn" if amd else "ptx"],
        "shared_bytes": result.metadata.shared,
        **usage,
    }


def _nvidia_usage(cubin: bytes, folder: str) -> dict:
    """Registers and spills of a thread, from `cuobjdump -res-usage`, which comes with triton."""
    path = os.path.join(folder, "kernel.cubin")
    with open(path, "wb") as file:
        file.write(cubin)
    tool = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "cuobjdump")
    text = subprocess.run([tool, "-res-usage", path], capture_output=True, text=True, check=True).stdout
    found = {name: int(re.search(rf"{name}:(\d+)", text).group(1)) for name in ("REG", "STACK", "LOCAL")}
    return {"registers": found["REG"], "spill_bytes": found["STACK"] + found["LOCAL"]}


def _amd_usage(text: str) -> dict:
    """Registers and spills of a thread, and wavefronts on a SIMD unit, as the assembly notes them."""
    patterns = {"registers": r"\.vgpr_count:", "spill_bytes": r"\.private_segment_fixed_size:", "waves": "; Occupancy:"}
    return {name: int(re.search(rf"{pattern}\s*(\d+)", text).group(1)) for name, pattern in patterns.items()}


def _described(error: Exception) -> dict:
    """The compiler's innermost sentence, and the functions and lines that led there, outermost first."""
    places, sentence = [], ""
    while error is not None:
        source, node = getattr(error, "src", None), getattr(error, "node", None)
        if source and node is not None:
            line = source.splitlines()[node.lineno - 1]
            name = re.search(r"def (\w+)", source).group(1)
            places.append({"function": name, "line": node.lineno, "column": node.col_offset, "text": line})
        sentence = getattr(error, "error_message", None) or ("" if source else str(error)) or sentence
        error = error.__cause__
    return {"places": places, "sentence": sentence}


def _answer(job: dict) -> dict:
    """What the compiler made of the kernel, or why not: the kernel's fault, or (`machine`) the machine's."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            return _compile(job, folder)
    except OSError as error:
        return {"machine": str(error)}
    except Exception as error:
        return {"error": _described(error)}


if __name__ == "__main__":
    print(json.dumps(_answer(json.loads(sys.stdin.read()))))
