"""Compiles a kernel for a GPU that need not be there, and returns what the compiler made of it.

The work happens in a child process without the interpreter: this file is run there as a script, so it imports
nothing from helpers. The kernel, the device functions it calls and its constexpr globals travel as source.
"""

import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class Compiled:
    """One compiled kernel: `ttgir` and `ptx` are the compiler's texts, `threads` its threads per program."""

    ttgir: str
    ptx: str
    threads: int

    @property
    def elements_per_thread(self) -> tuple[int, ...]:
        """How many neighbouring elements one thread holds in the first block layout of the kernel."""
        found = re.search(r"#ttg.blocked<\{sizePerThread = \[([\d, ]+)\]", self.ttgir)
        return tuple(int(n) for n in found.group(1).split(",")) if found else ()

    @property
    def load_bits(self) -> int:
        """Width in bits of the widest load from device memory that one thread issues (0 without loads)."""
        return max(_widths(self.ptx, "ld"), default=0)

    @property
    def store_bits(self) -> int:
        """Width in bits of the widest store to device memory that one thread issues (0 without stores)."""
        return max(_widths(self.ptx, "st"), default=0)

    @property
    def load_bytes(self) -> int:
        """Bytes that all threads of one full program ask for, each instruction counted for each thread.

        A loop's body counts once; what a cache answers or a predicate switches off counts too.
        """
        return sum(_widths(self.ptx, "ld")) // 8 * self.threads

    @property
    def store_bytes(self) -> int:
        """Bytes that all threads of one full program store, counted as `load_bytes` counts."""
        return sum(_widths(self.ptx, "st")) // 8 * self.threads


def compiled(
    kernel, types: dict, constexprs: dict, *, target: str = "sm_90", num_warps: int = 4, not_divisible: tuple = ()
) -> Compiled:
    """Compiles `kernel` for `target` ("sm_75", "sm_80", "sm_90", …), whatever machine this is.

    `types` maps each run-time argument to its Triton type ("*fp32" for a pointer, "i32" for an integer), and
    `constexprs` each constexpr argument to its value. Pointers are taken to be 16-byte aligned and integers
    divisible by 16, as a launch sees a fresh tensor whose size is a multiple of 16; name those that are not in
    `not_divisible`.

    Raises ValueError if the arguments do not fit the kernel or the target is unknown, and CompilationError with
    the compiler's own message if the kernel does not compile.
    """
    names = list(inspect.signature(kernel.fn).parameters)
    if set(types) | set(constexprs) != set(names) or set(types) & set(constexprs):
        raise ValueError(f"{kernel.fn.__name__} takes {', '.join(names)}: give each once, in types or in constexprs")
    if unknown := set(not_divisible) - set(types):
        raise ValueError(f"not_divisible names {', '.join(sorted(unknown))}, which types does not hold")
    if not re.fullmatch(r"sm_\d+", target):
        raise ValueError(f'target is {target!r}; it must name an NVIDIA architecture, such as "sm_90"')
    order = {name: types.get(name, "constexpr") for name in names}
    job = {
        "name": kernel.fn.__name__,
        "source": "\n\n".join(["import triton\nimport triton.language as tl", *_sources(kernel, {})]),
        "signature": order,
        "constexprs": constexprs,
        "capability": int(target.removeprefix("sm_")),
        "num_warps": num_warps,
        "divisible": [i for i, name in enumerate(names) if name in types and name not in not_divisible],
    }
    return Compiled(**_run_child(job), threads=32 * num_warps)


class CompilationError(Exception):
    """The compiler rejected the kernel; the message is the compiler's."""


def _sources(function, seen: dict) -> list[str]:
    """Source of a jitted function, after that of the device functions and constexpr globals it names."""
    seen[function.fn.__name__] = function
    before = []
    for name in function.fn.__code__.co_names:
        value = function.fn.__globals__.get(name)
        if hasattr(value, "fn") and name not in seen and not value.fn.__module__.startswith("triton."):
            before += _sources(value, seen)
        elif type(value).__name__ == "constexpr" and name not in seen:
            seen[name] = value
            before.append(f"{name} = tl.constexpr({value.value!r})")
    return [*before, textwrap.dedent(inspect.getsource(function.fn))]


def _run_child(job: dict) -> dict:
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    environment["TRITON_DISABLE_LINE_INFO"] = "1"  # PTX without debug sections is short enough to read
    done = subprocess.run(
        [sys.executable, "-P", __file__], input=json.dumps(job), capture_output=True, text=True, env=environment
    )
    if done.returncode:
        raise RuntimeError(f"the compiling process failed:\n{done.stderr.strip()[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if "error" in answer:
        raise CompilationError(answer["error"])
    return answer


def _widths(ptx: str, instruction: str) -> list[int]:
    """Bits that each `ld` or `st` instruction on device memory moves for one thread, in program order."""
    found = re.findall(rf"\b{instruction}\.global[.\w:]*?(?:\.v(\d))?\.[bfsu](\d+)\b", ptx)
    return [int(bits) * int(vector or 1) for vector, bits in found]


def _compile(job: dict) -> dict:
    """In the child: writes the source to a real file (the compiler reads it back) and compiles it."""
    import importlib.util

    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel_source.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(job["source"])
        spec = importlib.util.spec_from_file_location("kernel_source", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        source = ASTSource(
            fn=getattr(module, job["name"]),
            signature=job["signature"],
            constexprs=job["constexprs"],
            attrs={(i,): [["tt.divisibility", 16]] for i in job["divisible"]},
        )
        target = GPUTarget("cuda", job["capability"], 32)
        try:
            result = triton.compile(source, target=target, options={"num_warps": job["num_warps"]})
        except Exception as error:
            return {"error": str(error)}
        return {"ttgir": result.asm["ttgir"], "ptx": result.asm["ptx"]}


if __name__ == "__main__":
    print(json.dumps(_compile(json.loads(sys.stdin.read()))))
