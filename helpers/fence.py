"""Finds reads outside an input, in the interpreter: a forked child whose inputs end at a page nobody may touch.

A load without a mask whose lanes are thrown away leaves no trace in any result. Here it kills the child, and
only the child. A GPU has no such page at a tensor's end, and a forked process cannot use the GPU.
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

from .cases import Placed, geometry, span
from .device import INTERPRETED

TIMEOUT = 20.0  # seconds for one job; a child that hangs counts as "could not look"
AVAILABLE = INTERPRETED and hasattr(os, "fork")
SIDES = ("past the end", "before the start")


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
    """An input flush against a page of no access, at its end or its start; the memory lasts as long as the process."""
    strides, _ = geometry(tuple(plain.shape), layout, position)
    size, page = span(plain.shape, strides) * plain.element_size() if plain.numel() else 0, mmap.PAGESIZE
    pages = -(-size // page)
    memory = mmap.mmap(-1, (pages + 2) * page)
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for forbidden in (first, first + (pages + 1) * page):
        if ctypes.CDLL(None).mprotect(ctypes.c_void_p(forbidden), ctypes.c_size_t(page), 0):  # 0 is PROT_NONE
            raise OSError("mprotect failed")
    if not size:
        return plain
    start = page if side == "before the start" else (pages + 1) * page - size
    whole = torch.frombuffer(memory, dtype=plain.dtype, count=size // plain.element_size(), offset=start)
    return Placed(whole.as_strided(tuple(plain.shape), strides), whole).fill(plain).tensor
