"""What `check` feeds a kernel: shapes around a block's end, dtypes, layouts in memory, and values.

Numbers come from the CPU's generator, so that a case holds the same values on a GPU and in the interpreter.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

FILL = 0xFF  # every byte around an input: a NaN in each float type, -1 in each signed integer type
ALIGNMENT = 512  # bytes; what a GPU gives a fresh tensor


@dataclass(frozen=True)
class Case:
    """One call: the shape and dtype of its inputs, how they lie in memory, and what is in them."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    layout: str | tuple[tuple[int, ...], int] = "contiguous"  # a name from `layouts`, or strides and an offset
    values: str = "random"

    def __str__(self) -> str:
        size = f"n={self.shape[0]}" if len(self.shape) == 1 else f"shape {self.shape}"
        unusual = [x for x in (self.layout, self.values) if x not in ("contiguous", "random")]
        return ", ".join(map(str, [size, name(self.dtype), *unusual]))

    def but(self, **changes) -> "Case":
        """The same case with some fields changed."""
        return replace(self, **changes)


def name(dtype: torch.dtype) -> str:
    """A dtype without "torch."."""
    return str(dtype).removeprefix("torch.")


def default_shapes(block: int) -> list[tuple[int, ...]]:
    """Sizes in elements: whole blocks first, around one block's end, tiny, empty, many blocks, a prime, 2-D and 3-D."""
    many = [40 * block + 3] if block <= 1024 else []
    sizes = [3 * block, block, block + 1, block - 1, 256, 257, 255, 17, 16, 15, 1, 0, *many, 997, 2 * block + 1]
    rows = 2 ** (int(math.log2(block)) // 2)  # (3 · rows, block / rows) is three whole blocks as well
    return [*((n,) for n in dict.fromkeys(sizes)), (3 * rows, block // rows), (17, 61), (3, 5, 67)]


def default_dtypes(device: torch.device) -> tuple[torch.dtype, ...]:
    """float32, float16 and, where the device has it (the interpreter loads and stores it right), bfloat16."""
    if device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.float32, torch.float16
    return torch.float32, torch.float16, torch.bfloat16


def operands(case: Case, inputs: int | Callable, seed: int) -> list:
    """The inputs of a case as contiguous CPU tensors; what `inputs` returns beside tensors is passed on as it is.

    Raises ValueError if an `inputs` function raises or returns no tuple with a tensor in it.
    """
    generator = torch.Generator().manual_seed(seed)
    if isinstance(inputs, int):
        made = [uniform(case.shape, case.dtype, generator) for _ in range(inputs)]
    else:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            try:
                made = inputs(case.shape, case.dtype, torch.device("cpu"))
            except Exception as error:
                raise ValueError(f"inputs{case.shape, case.dtype} raised {type(error).__name__}: {error}") from error
        if not isinstance(made, tuple | list) or not any(isinstance(x, torch.Tensor) for x in made):
            raise ValueError(f"inputs must return a tuple of tensors, not {type(made).__name__}")
        made = [x.detach().cpu().contiguous() if isinstance(x, torch.Tensor) else x for x in made]
    return [special(x, k, case.values, generator) for k, x in enumerate(made)]


def uniform(shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator, reach: int = 20) -> torch.Tensor:
    """Random values within ±reach (whole numbers in an integer dtype): both signs, no overflow in a product."""
    if dtype.is_floating_point:
        return ((torch.rand(shape, generator=generator) * 2 - 1) * reach).to(dtype)
    return torch.randint(-reach, reach + 1, shape, generator=generator).to(dtype)


def special_values(count: int, elementwise: bool) -> list[str]:
    """What to put into the inputs beside random numbers; one nan spoils a whole row, so there it comes alone."""
    if elementwise:
        return [f"special values in input {k}" for k in range(count)]
    alone = [f"one {value} in input {k}" for k in range(count) for value in ("nan", "inf", "-inf")]
    return ["all negative", "alternating signs", "within ±1000", *alone]


def special(x, position: int, values: str, generator: torch.Generator):
    """Input number `position` of a case, changed to hold these values (see `special_values`)."""
    if values == "random" or not isinstance(x, torch.Tensor) or not x.is_floating_point() or not x.numel():
        return x
    if values == "all negative":
        return -x.abs()
    if values == "alternating signs":
        return (x.flatten().abs() * (1 - 2 * (torch.arange(x.numel()) % 2))).view_as(x).to(x.dtype)
    if values == "within ±1000":
        return uniform(x.shape, x.dtype, generator, reach=1000)
    kind, _, operand = values.partition(" in input ")
    if kind == "special values":
        if int(operand) != position:
            return (torch.rand(x.shape, generator=generator) + 0.5).to(x.dtype)  # near 1
        return extremes(x.dtype).repeat(x.numel())[: x.numel()].view_as(x)
    if int(operand) == position:
        x = x.clone()
        x.flatten()[x.numel() // 2] = float(kind.removeprefix("one "))
    return x


def extremes(dtype: torch.dtype) -> torch.Tensor:
    """±0, ±denormal, ±large, ±inf and nan; no denormals in bfloat16, which the interpreter gets wrong."""
    info, inf = torch.finfo(dtype), math.inf
    tiny, large = info.tiny if dtype == torch.bfloat16 else info.tiny / 8, info.max / 4
    return torch.tensor([0, -0.0, tiny, -tiny, large, -large, inf, -inf, math.nan], dtype=torch.float64).to(dtype)


def layouts(dimensions: int) -> list[str]:
    """Ways in which an input of this many dimensions can lie in memory, other than contiguous."""
    if dimensions < 2:
        return ["offset view", "every second element"]
    return ["offset view", "column slice", "transposed", "only input 0 transposed", "expanded"]


def layout_cases(right: list[Case], dimensions: int | None) -> list[Case]:
    """Views that are not contiguous, of the last shapes that passed as contiguous ones and are not trivial.

    `dimensions` is the largest number of them that an input has, where a shape does not say so (None: it does).
    """
    usable = [case for case in right if all(n > 1 for n in case.shape)] or right[:1]
    if dimensions is not None:
        return [usable[0].but(layout=layout) for layout in layouts(dimensions)]
    flat, tables = [c for c in usable if len(c.shape) == 1], [c for c in usable if len(c.shape) > 1]
    return [c.but(layout=layout) for c in [*flat[-1:], *tables[-2:]] for layout in layouts(len(c.shape))]


def value_cases(base: Case, dtypes: list[torch.dtype], inputs: int, elementwise: bool) -> list[Case]:
    """Special values in every floating-point dtype that came out right; beside element-wise functions in the first."""
    some = [dtype for dtype in dtypes if dtype.is_floating_point][: None if elementwise else 1]
    return [base.but(dtype=dtype, values=kind) for dtype in some for kind in special_values(inputs, elementwise)]


def geometry(shape: tuple[int, ...], layout, position: int) -> tuple[list[int], int]:
    """Strides and offset, in elements, of input number `position` of this shape in this layout."""
    if isinstance(layout, tuple):
        return list(layout[0]), layout[1]
    strides = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    if layout == "offset view":
        return strides, 1
    if layout == "every second element":
        return [2 * stride for stride in strides], 0
    if len(shape) >= 2:
        if layout == "column slice":  # of a packed [gate | up]
            return [*(2 * stride for stride in strides[:-1]), 1], position % 2 * shape[-1]
        if layout == "transposed" or (layout == "only input 0 transposed" and position == 0):
            return [*strides[:-2], 1, shape[-2]], 0
        if layout == "expanded":
            return [0, *strides[1:]], 0
    return strides, 0


def span(shape: tuple[int, ...], strides: list[int]) -> int:
    """How many elements of memory lie between the first element of a view and its last, both included."""
    return 1 + sum(max(size - 1, 0) * stride for size, stride in zip(shape, strides, strict=True))


@dataclass
class Placed:
    """An input inside a larger buffer of bytes: `tensor` is the view that the candidate gets."""

    tensor: torch.Tensor
    buffer: torch.Tensor
    plain: torch.Tensor = None  # its values, contiguous, on the CPU
    before: torch.Tensor = None  # the whole buffer as it was before the call

    def fill(self, plain: torch.Tensor) -> "Placed":
        """Puts values into the view; where dimension 0 has stride 0, its first slice for all."""
        rows = slice(1) if self.tensor.dim() and self.tensor.stride(0) == 0 else ...
        self.tensor[rows].copy_(plain[rows])
        self.plain = plain[rows].expand_as(plain).contiguous()
        self.before = self.buffer.clone()
        return self


def place(plain, layout, position: int, device: torch.device, guard: int):
    """Lays a contiguous CPU tensor out on the device with `guard` bytes of FILL on either side; others pass through."""
    if not isinstance(plain, torch.Tensor):
        return plain
    strides, offset = geometry(tuple(plain.shape), layout, position)
    guard = -(-guard // ALIGNMENT) * ALIGNMENT
    size = (offset + span(plain.shape, strides)) * plain.element_size()
    buffer = torch.full((2 * guard + -(-size // ALIGNMENT) * ALIGNMENT,), FILL, dtype=torch.uint8, device=device)
    start = guard // plain.element_size() + offset
    return Placed(buffer.view(plain.dtype).as_strided(tuple(plain.shape), strides, start), buffer).fill(plain)
