"""Compiles a kernel for a GPU that need not be there, and returns what the compiler made of it.

The work happens in a child process without the interpreter, which runs `child.py`. The kernel, the device
functions it calls and its constexpr globals travel there as source.
"""

import inspect
import json
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass

from .cards import CARDS, resident_blocks

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.py")
ODD = ", odd"  # after a type: 16 does not divide the value
TYPES = {
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "bool": "i1",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Compiled:
    """One compiled kernel. Printed, it is a short report.

    `ttgir` and `assembly` are the compiler's texts (`assembly` is PTX, or AMD's), `registers` those of one thread,
    `spill_bytes` what one thread keeps in device memory for want of registers, `shared_bytes` what one program takes
    of its multiprocessor's shared memory.
    """

    target: str
    num_warps: int
    ttgir: str
    assembly: str
    registers: int
    spill_bytes: int
    shared_bytes: int
    waves: int | None = None  # of one SIMD unit, on AMD

    @property
    def ptx(self) -> str:
        """The assembly, if it is PTX."""
        return self.assembly if self.target.startswith("sm_") else ""

    @property
    def threads(self) -> int:
        """Threads of one program."""
        return CARDS[self.target].warp_size * self.num_warps

    @property
    def elements_per_thread(self) -> tuple[int, ...]:
        """How many neighbouring elements one thread holds in the first block layout of the kernel."""
        found = re.search(r"#ttg.blocked<\{sizePerThread = \[([\d, ]+)\]", self.ttgir)
        return tuple(int(n) for n in found.group(1).split(",")) if found else ()

    @property
    def load_bits(self) -> int:
        """Width in bits of the widest load from device memory that one thread issues (0 without loads)."""
        return max(widths(self.assembly, "load"), default=0)

    @property
    def store_bits(self) -> int:
        """Width in bits of the widest store to device memory that one thread issues (0 without stores)."""
        return max(widths(self.assembly, "store"), default=0)

    @property
    def load_bytes(self) -> int:
        """Bytes that all threads of one full program ask for, each instruction counted for each thread.

        A loop's body counts once; what a cache answers or a predicate switches off counts too.
        """
        return sum(widths(self.assembly, "load")) // 8 * self.threads

    @property
    def store_bytes(self) -> int:
        """Bytes that all threads of one full program store, counted as `load_bytes` counts."""
        return sum(widths(self.assembly, "store")) // 8 * self.threads

    @property
    def fits(self) -> bool:
        """Whether the target has as much shared memory for one program as the kernel takes."""
        return self.shared_bytes <= CARDS[self.target].block_shared

    @property
    def occupancy(self) -> float:
        """Warps that one multiprocessor holds at a time, as a fraction of the most it can hold."""
        card = CARDS[self.target]
        if self.waves is not None:
            return self.waves / 8  # a SIMD unit of gfx942 holds 8 wavefronts
        blocks = resident_blocks(card, self.num_warps, self.registers, self.shared_bytes)
        return blocks * self.num_warps / card.warps

    def __str__(self) -> str:
        most = CARDS[self.target].block_shared // 1024
        rows = {
            "target": self.target,
            "threads of a program": self.threads,
            "neighbouring elements a thread": " × ".join(map(str, self.elements_per_thread)) or "none",
            "widest load, store": f"{self.load_bits} bits, {self.store_bits} bits",
            "a program loads, stores": f"{self.load_bytes} B, {self.store_bytes} B",
            "registers a thread": self.registers,
            "spilled a thread": f"{self.spill_bytes} B",
            "shared memory": f"{self.shared_bytes} B" + ("" if self.fits else f": too much, {most} KiB is the most"),
            "occupancy": f"{self.occupancy:.0%}",
        }
        return "\n".join(f"{name:<31} {value}" for name, value in rows.items())

    __repr__ = __str__


def compiled(
    kernel, types: dict, constexprs: dict, *, target: str = "sm_90", num_warps: int = 4, not_divisible: tuple = ()
) -> Compiled:
    """Compiles `kernel` for `target` ("sm_75", "sm_80", "sm_90", "sm_100", "gfx942", …), whatever machine this is.

    `types` maps each run-time argument to its Triton type ("*fp32" for a pointer, "i32" for an integer), or to a value
    to launch with (a tensor on any device, a number), and `constexprs` each constexpr argument to its value. Of a
    value, what a launch looks at is taken from it: its type, whether the address or the number is divisible by 16, and
    whether it is 1. By its type alone a pointer is taken to be 16-byte aligned and an integer divisible by 16, as a
    launch sees a fresh tensor whose size is a multiple of 16; name those that are not in `not_divisible`.

    Raises ValueError if the arguments do not fit the kernel or the target is unknown, and CompilationError with
    the compiler's own message, at the kernel's own line, if it does not compile.
    """
    names = list(inspect.signature(kernel.fn).parameters)
    if set(types) | set(constexprs) != set(names) or set(types) & set(constexprs):
        raise ValueError(f"{kernel.fn.__name__} takes {', '.join(names)}: give each once, in types or in constexprs")
    if unknown := set(not_divisible) - set(types):
        raise ValueError(f"not_divisible names {', '.join(sorted(unknown))}, which types does not hold")
    if target not in CARDS:
        raise ValueError(f"target is {target!r}; it must be one of {', '.join(CARDS)}")
    seen = {name: value if isinstance(value, str) else _launched(name, value) for name, value in types.items()}
    ones = {name: 1 for name, kind in seen.items() if kind == "one"}
    odd = {name for name, kind in seen.items() if kind.endswith(ODD)}
    functions = {}
    job = {
        "name": kernel.fn.__name__,
        "source": "\n\n".join(["import triton\nimport triton.language as tl", *_sources(kernel, functions)]),
        "signature": {
            name: "constexpr" if name in ones else seen.get(name, "constexpr").removesuffix(ODD) for name in names
        },
        "constexprs": {**constexprs, **ones},
        "target": target,
        "warp_size": CARDS[target].warp_size,
        "num_warps": num_warps,
        "divisible": [i for i, n in enumerate(names) if n in seen and n not in {*not_divisible, *ones, *odd}],
    }
    answer = _run_child(job)
    if "error" in answer:
        raise CompilationError(_message(answer["error"], functions))
    return Compiled(target, num_warps, **answer)


def _launched(name: str, value) -> str:
    """The type of a value as a launch sees it: followed by ODD if 16 does not divide it, "one" for the number 1."""
    if hasattr(value, "data_ptr"):
        kind = "*" + TYPES[str(value.dtype).removeprefix("torch.")]
        return kind if value.data_ptr() % 16 == 0 else kind + ODD
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        kind = "i32" if -(2**31) <= value < 2**31 else "i64"
        return "one" if value == 1 else kind if value % 16 == 0 else kind + ODD
    if isinstance(value, float):
        return "fp32"
    raise ValueError(f'types[{name!r}] is {value!r}; give a Triton type such as "*fp32", a tensor or a number')


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
        [sys.executable, "-P", CHILD], input=json.dumps(job), capture_output=True, text=True, env=environment
    )
    if done.returncode:
        raise RuntimeError(f"the compiling process failed:\n{done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _message(error: dict, functions: dict) -> str:
    """The compiler's sentence, under the line of the learner's own function that it is about."""
    own = [place for place in error["places"] if place["function"] in functions]
    if not own:
        return error["sentence"]
    place = own[-1]
    function = functions[place["function"]].fn
    lines, first = inspect.getsourcelines(function)
    above = next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    where = f"{place['function']}, line {max(first, 1) + above + place['line'] - 1}"
    line = place["text"].strip()
    mark = " " * (place["column"] - (len(place["text"]) - len(place["text"].lstrip())))
    return f"{where}:\n    {line}\n    {mark}^\n{error['sentence']}"


def widths(assembly: str, what: str) -> list[int]:
    """Bits that each instruction that loads from (or stores to) device memory moves for one thread, in order.

    `what` is "load" or "store"; `assembly` is PTX or AMD's.
    """
    nvidia = re.findall(rf"\b{what[0]}[dt]\.global[.\w:]*?(?:\.v(\d))?\.[bfsu](\d+)\b", assembly)
    amd = re.findall(rf"\b(?:global|buffer|flat)_{what}_[us]?(byte|short|dword)(?:x(\d))?", assembly)
    bits = {"dword": 32, "short": 16, "byte": 8}
    return [int(b) * int(v or 1) for v, b in nvidia] + [bits[kind] * int(v or 1) for kind, v in amd]
