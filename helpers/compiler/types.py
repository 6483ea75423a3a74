"""Triton's names of types, and what a launch sees in a value."""

import difflib
import inspect
import re

import torch

ODD = ", odd"  # after a type: 16 does not divide the value
NAMES = {
    torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.float64: "fp64", torch.bool: "i1",
    torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8",
    torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64",
}  # fmt: skip
MEANT = {str(dtype).removeprefix("torch."): name for dtype, name in NAMES.items()}
MEANT |= {"int": "i32", "float": "fp32", "half": "fp16", "double": "fp64", "f16": "fp16", "f32": "fp32", "f64": "fp64"}


def launched_type(name: str, value) -> str:
    """The type of argument `name` as a launch sees its value: followed by ODD if 16 does not divide it, "one" for 1.

    Raises ValueError for a value of which a launch takes no type.
    """
    if isinstance(value, torch.Tensor):
        if value.dtype not in NAMES:
            raise ValueError(f"types[{name!r}] is a tensor of {value.dtype}, which has no name in Triton here")
        kind = "*" + NAMES[value.dtype]
        return kind if value.data_ptr() % 16 == 0 else kind + ODD
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        kind = "i32" if -(2**31) <= value < 2**31 else "i64" if value < 2**63 else "u64"
        return "one" if value == 1 else kind if value % 16 == 0 else kind + ODD
    if isinstance(value, float):
        return "fp32"
    raise ValueError(f'types[{name!r}] is {value!r}; give a Triton type such as "*fp32", a tensor or a number')


def valid_type(name: str, given: str) -> str:
    """A type that the caller named, if Triton knows it. Raises ValueError that says what was meant."""
    bare = given.removeprefix("*")
    if bare in NAMES.values() or re.fullmatch(r"fp8e\w+", bare):
        return given
    meant = MEANT.get(bare.removeprefix("torch."))
    guess = meant or next(iter(difflib.get_close_matches(bare, NAMES.values(), 1)), "fp32")
    guess = "*" * given.startswith("*") + guess
    raise ValueError(f'types[{name!r}] is "{given}", which Triton does not know; did you mean "{guess}"?')


def signature(kernel, args: tuple, kwargs: dict) -> tuple[dict, dict]:
    """The values of a launch `kernel[grid](*args, **kwargs)`: run-time ones by name, and constexpr ones.

    None is a constexpr, too, as it is to Triton. Options such as num_warps are left out.
    """
    parameters = inspect.signature(kernel.fn).parameters
    bound = inspect.signature(kernel.fn).bind(*args, **{n: v for n, v in kwargs.items() if n in parameters})
    bound.apply_defaults()
    fixed = {n: v for n, v in bound.arguments.items() if v is None or "constexpr" in str(parameters[n].annotation)}
    return {n: v for n, v in bound.arguments.items() if n not in fixed}, fixed
