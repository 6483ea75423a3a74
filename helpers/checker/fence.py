"""Runs jobs in a forked child, and finds reads outside an input there, in the interpreter.

A load without a mask whose lanes are thrown away leaves no trace in any result. In the child the inputs end at pages
that nobody may touch: the read kills the child, and only the child. A GPU has no such pages at a tensor's end, and a
forked process cannot use the GPU.
"""

import contextlib
import ctypes
import faulthandler
import mmap
import os
import pickle
import select
import signal
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from ..device import INTERPRETED
from .cases import Case
from .placing import Placed, geometry, span

TIMEOUT = 20.0  # seconds for one job; a child that hangs counts as "could not look"
AVAILABLE = INTERPRETED and hasattr(os, "fork")
SIDES = ("past the end", "before the start")
ZONE = 256 * mmap.PAGESIZE  # bytes on either side of an input; those on one side are forbidden


@dataclass
class Child:
    """What became of the jobs: what each returned, in order, and the number of the one that killed the child."""

    returned: list = field(default_factory=list)
    killed_by: int | None = None


def in_child(jobs: list[Callable[[], object]]) -> Child:
    """Runs the jobs, in order, in one forked child; what they return must be small, and what they raise is None here.

    Raises TimeoutError if a job does not finish in time.
    """
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: a fork of a process with threads
        child = os.fork()
    if child == 0:
        try:
            _become_quiet()
            with os.fdopen(writer, "wb") as answers:
                for job in jobs:
                    returned = None
                    with contextlib.suppress(BaseException):
                        returned = job()
                    pickle.dump(returned, answers)
                    answers.flush()
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        return _watch(child, answers, len(jobs))


def _become_quiet() -> None:
    """In the child: no output, no crash report, and no use of threads that the fork did not copy."""
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    faulthandler.disable()
    for descriptor in (1, 2):
        os.dup2(sys.stdout.fileno(), descriptor)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    torch.set_num_threads(1)


def _watch(child: int, answers, count: int) -> Child:
    """Waits for the child, job after job."""
    done = Child()
    while select.select([answers], [], [], TIMEOUT)[0]:
        try:
            done.returned.append(pickle.load(answers))
        except EOFError:
            signalled = os.WIFSIGNALED(os.waitpid(child, 0)[1])
            done.killed_by = len(done.returned) if signalled and len(done.returned) < count else None
            return done
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise TimeoutError(f"job {len(done.returned)} did not finish within {TIMEOUT:.0f} s")


def plan(first: Case, shapes: list[tuple[int, ...]]) -> list[tuple[Case, str | None]]:
    """Cases for the child: a few as they are (side None), then some flush against forbidden bytes on either side."""
    tables = [shape for shape in shapes if len(shape) > 1 and min(shape) > 1]
    few = [first.but(shape=shape) for shape in dict.fromkeys([*shapes[:3], *tables[-2:]])]
    views = [{"layout": "offset view"}, {"layout": "column slice"}, {"layout": "transposed", "only": 0}]
    many = few + [few[-1].but(**view) for view in views]
    empty = [first.but(shape=shape) for shape in shapes if 0 in shape]  # whose address is 0: no guard can stand there
    sides = (None, *SIDES), ([*empty, *many], many, few[:2])
    return [(case, side) for side, cases in zip(*sides, strict=True) for case in cases]


def fenced(x: torch.Tensor, case: Case, position: int, side: str) -> torch.Tensor:
    """An input flush against a zone of no access, at its end or its start; the memory lasts as long as the process."""
    if not x.numel():
        return x
    strides, _ = geometry(x, case, position)
    size = span(x.shape, strides) * x.element_size()
    end = ZONE - (-size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory, before = mmap.mmap(-1, end + ZONE), side == SIDES[1]
    forbidden = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + (0 if before else end)
    if ctypes.CDLL(None).mprotect(ctypes.c_void_p(forbidden), ctypes.c_size_t(ZONE), 0):  # 0 is PROT_NONE
        raise OSError("mprotect failed")
    start = ZONE if before else end - size
    whole = torch.frombuffer(memory, dtype=x.dtype, count=size // x.element_size(), offset=start)
    return Placed(whole.as_strided(tuple(x.shape), strides), whole).fill(x).tensor
