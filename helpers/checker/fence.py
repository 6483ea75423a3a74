"""Finds reads outside an input, in the interpreter: a forked child whose inputs end at pages nobody may touch.

A load without a mask whose lanes are thrown away leaves no trace in any result. Here it kills the child, and
only the child. A GPU has no such pages at a tensor's end, and a forked process cannot use the GPU.
"""

import contextlib
import ctypes
import faulthandler
import mmap
import os
import select
import signal
import sys
import warnings
from collections.abc import Callable

import torch

from ..device import INTERPRETED
from .cases import Case, Placed, geometry, span

TIMEOUT = 20.0  # seconds for one job; a child that hangs counts as "could not look"
AVAILABLE = INTERPRETED and hasattr(os, "fork")
SIDES = ("past the end", "before the start")
ZONE = 256 * mmap.PAGESIZE  # bytes on either side of an input; those on one side are forbidden


def plan(first: Case, shapes: list[tuple[int, ...]]) -> list[tuple[Case, str | None]]:
    """Cases for the child: a few as they are (side None), then some flush against forbidden bytes on either side."""
    tables = [shape for shape in shapes if len(shape) > 1 and min(shape) > 1]
    few = [first.but(shape=shape) for shape in dict.fromkeys([*shapes[:3], *tables[-2:]])]
    many = few + [few[-1].but(layout=layout) for layout in ("offset view", "column slice", "only input 0 transposed")]
    empty = [first.but(shape=shape) for shape in shapes if 0 in shape]  # whose address is 0: no guard can stand there
    sides = (None, *SIDES), ([*empty, *many], many, few[:2])
    return [(case, side) for side, cases in zip(*sides, strict=True) for case in cases]


def first_deadly(jobs: list[Callable[[], object]]) -> int | None:
    """Runs the jobs, in order, in one forked child. Returns the number of the job that killed it, None if none did.

    What a job raises or prints is dropped. Raises TimeoutError if a job does not finish in time.
    """
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: a fork of a process with threads
        child = os.fork()
    if child == 0:
        try:
            become_quiet()
            for number, job in enumerate(jobs):
                os.write(writer, bytes([number]))
                with contextlib.suppress(BaseException):
                    job()
        finally:
            os._exit(0)
    os.close(writer)
    try:
        return watch(child, reader)
    finally:
        os.close(reader)


def become_quiet() -> None:
    """In the child: no output, no crash report, and no use of threads that the fork did not copy."""
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    faulthandler.disable()
    for descriptor in (1, 2):
        os.dup2(sys.stdout.fileno(), descriptor)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    torch.set_num_threads(1)


def watch(child: int, reader: int) -> int | None:
    """Waits for the child; the number of the job that it had started last if a signal ended it."""
    started = None
    while select.select([reader], [], [], TIMEOUT)[0]:
        written = os.read(reader, 256)
        if not written:
            return started if os.WIFSIGNALED(os.waitpid(child, 0)[1]) else None
        started = written[-1]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise TimeoutError(f"job {started} did not finish within {TIMEOUT:.0f} s")


def fenced(plain: torch.Tensor, layout, position: int, side: str) -> torch.Tensor:
    """An input flush against a zone of no access, at its end or its start; the memory lasts as long as the process."""
    strides, _ = geometry(tuple(plain.shape), layout, position)
    size = span(plain.shape, strides) * plain.element_size()
    if not plain.numel():
        return plain
    end = ZONE - (-size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory, before = mmap.mmap(-1, end + ZONE), side == SIDES[1]
    forbidden = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + (0 if before else end)
    if ctypes.CDLL(None).mprotect(ctypes.c_void_p(forbidden), ctypes.c_size_t(ZONE), 0):  # 0 is PROT_NONE
        raise OSError("mprotect failed")
    start = ZONE if before else end - size
    whole = torch.frombuffer(memory, dtype=plain.dtype, count=size // plain.element_size(), offset=start)
    return Placed(whole.as_strided(tuple(plain.shape), strides), whole).fill(plain).tensor
