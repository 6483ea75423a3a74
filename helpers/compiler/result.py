"""What the compiler made of a kernel, read from its texts."""

import re
from dataclasses import dataclass

from .cards import CARDS, resident_blocks


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


def widths(assembly: str, what: str) -> list[int]:
    """Bits that each instruction that loads from (or stores to) device memory moves for one thread, in order.

    `what` is "load" or "store"; `assembly` is PTX or AMD's.
    """
    nvidia = re.findall(rf"\b{what[0]}[dt]\.global[.\w:]*?(?:\.v(\d))?\.[bfsu](\d+)\b", assembly)
    amd = re.findall(rf"\b(?:global|buffer|flat)_{what}_[us]?(byte|short|dword)(?:x(\d))?", assembly)
    bits = {"dword": 32, "short": 16, "byte": 8}
    return [int(b) * int(v or 1) for v, b in nvidia] + [bits[kind] * int(v or 1) for kind, v in amd]
