"""`compiled`: compiles a kernel for a GPU that need not be there, and returns what the compiler made of it.

The work happens in a child process without the interpreter, which runs `child.py`.
"""

import ast
import difflib
import inspect
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

from .cards import CARDS
from .functions import is_kernel, jitted, kernels_of
from .result import Compiled
from .sources import Files, literal
from .types import ODD, launched_type, valid_type

CHILD = Path(__file__).resolve().with_name("child.py")


class CompilationError(Exception):
    """The compiler rejected the kernel; the message is the compiler's."""


class CompilerUnavailable(Exception):
    """The machine, not the kernel, kept the compiler from working: a full disk, say, or a folder that is read-only."""


def compiled(
    kernel, types: dict, constexprs: dict, *, target: str = "sm_90", num_warps: int = 4, not_divisible: tuple = ()
) -> Compiled:
    """Compiles `kernel` for `target` ("sm_75", "sm_80", "sm_90", "sm_100", "gfx942", …), whatever machine this is.

    `types` maps each run-time argument to its Triton type ("*fp32" for a pointer, "i32" for an integer), or to a value
    to launch with (a tensor on any device, a number), and `constexprs` each constexpr argument to its value. Of a
    value, what a launch looks at is taken from it: its type, whether the address or the number is divisible by 16, and
    whether it is 1. By its type alone a pointer is taken to be 16-byte aligned and an integer divisible by 16, as a
    launch sees a fresh tensor whose size is a multiple of 16; name those that are not in `not_divisible`.

    Raises ValueError if the arguments do not fit the kernel or the target is unknown, CompilationError with the
    compiler's own message, at the kernel's own line, if it does not compile, NotCarried if the kernel names something
    that cannot be taken to the compiling process, and CompilerUnavailable if the machine is at fault.
    """
    kernel = _kernel(kernel)
    _validate(kernel, types, constexprs, target, num_warps, not_divisible)
    names = list(inspect.signature(kernel.fn).parameters)
    seen = {n: valid_type(n, v) if isinstance(v, str) else launched_type(n, v) for n, v in types.items()}
    ones = {name: 1 for name, kind in seen.items() if kind == "one"}
    odd = {name for name, kind in seen.items() if kind.endswith(ODD)}
    files = Files()
    file, name = files.add(kernel)
    answer = _run_child(
        {
            "files": {name: "\n\n".join(lines) for name, lines in files.texts.items()},
            "file": file,
            "name": name,
            "signature": {n: "constexpr" if n in ones else seen.get(n, "constexpr").removesuffix(ODD) for n in names},
            "constexprs": {n: literal(value, n) for n, value in {**constexprs, **ones}.items()},
            "target": target,
            "warp_size": CARDS[target].warp_size,
            "num_warps": num_warps,
            "divisible": [i for i, n in enumerate(names) if n in seen and n not in {*not_divisible, *ones, *odd}],
        }
    )
    if "error" in answer:
        raise CompilationError(_message(answer["error"], files.functions))
    return Compiled(target, num_warps, **answer)


def _kernel(given):
    """The jitted function in what was given as a kernel. Raises ValueError that says what to give instead."""
    if is_kernel(given):
        kernel = jitted(given)
        tree = ast.parse(textwrap.dedent(inspect.getsource(kernel.fn)))
        if any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(tree)):
            called = kernel.fn.__name__
            raise ValueError(f"{called} returns a value, so it is a device function: give a kernel that calls it")
        return kernel
    if getattr(given, "__module__", "").startswith("triton."):
        raise ValueError("give the kernel without a grid: add_kernel, not add_kernel[grid]")
    inside = [k.fn.__name__ for k in kernels_of(given)] if inspect.isfunction(given) else []
    if inside:
        raise ValueError(f"{given.__name__} is a launcher; give the kernel that it launches: {inside[0]}")
    raise ValueError(f"kernel must be a @triton.jit function, not {type(given).__name__}")


def _validate(kernel, types: dict, constexprs: dict, target: str, num_warps: int, not_divisible: tuple) -> None:
    """Raises ValueError that names the first argument that makes no sense."""
    called, names = kernel.fn.__name__, list(inspect.signature(kernel.fn).parameters)
    for given in (*types, *constexprs):
        if given not in names:
            near = difflib.get_close_matches(given, names, 1)
            meant = f"did you mean {near[0]}?" if near else f"it takes {', '.join(names)}"
            raise ValueError(f"{called} has no argument {given!r}: {meant}")
    if set(types) | set(constexprs) != set(names) or set(types) & set(constexprs):
        raise ValueError(f"{called} takes {', '.join(names)}: give each once, in types or in constexprs")
    if unknown := set(not_divisible) - set(types):
        raise ValueError(f"not_divisible names {', '.join(sorted(unknown))}, which types does not hold")
    if target not in CARDS:
        raise ValueError(f"target is {target!r}; it must be one of {', '.join(CARDS)}")
    most = 1024 // CARDS[target].warp_size
    if num_warps not in [2**n for n in range(most.bit_length())]:
        raise ValueError(f"num_warps is {num_warps!r}; give a power of two from 1 to {most} (1024 threads)")


def _run_child(job: dict) -> dict:
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    environment["TRITON_DISABLE_LINE_INFO"] = "1"  # PTX without debug sections is short enough to read
    try:
        command = [sys.executable, "-P", CHILD]
        done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, env=environment)
    except OSError as error:
        raise CompilerUnavailable(f"the compiling process could not start: {error}") from error
    if done.returncode:
        raise CompilerUnavailable(f"the compiling process failed:\n{done.stderr.strip()[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if "machine" in answer:
        raise CompilerUnavailable(f"the compiler could not work on this machine: {answer['machine']}")
    return answer


def _message(error: dict, functions: dict) -> str:
    """The compiler's sentence, under the line of the learner's own function that it is about."""
    own = [place for place in error["places"] if place["function"] in functions]
    if not own:
        return error["sentence"]
    place = own[-1]
    function = functions[place["function"]]
    lines, first = inspect.getsourcelines(function)
    above = next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    where = f"{function.__name__}, line {max(first, 1) + above + place['line'] - 1}"
    line = place["text"].strip()
    mark = " " * (place["column"] - (len(place["text"]) - len(place["text"].lstrip())))
    return f"{where}:\n    {line}\n    {mark}^\n{error['sentence']}"
