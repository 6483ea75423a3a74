"""A hash of the code that was measured: kept with a record, it tells whether that code has changed since."""

import ast
import dis
import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterable

import torch

from ..compiler.functions import named_values, unwrapped

OURS = ("__main__", "helpers.kernels", "helpers.tests")  # modules whose functions belong to what is measured
PLAIN = (bool, int, float, str, type(None), torch.dtype)  # values that count as they are written


def fingerprint(functions: Iterable[Callable], kernels_only: bool = False) -> str:
    """A hash of the code of these functions and of the kernels, and what launches them, that they lead to.

    Comments, docstrings and layout do not count; of a library's function only its name does. With `kernels_only` a
    function that leads to no kernel adds nothing. Values count that are written, captured by a closure, or bound by a
    partial; of globals only constexprs do.
    """
    functions = list(functions)
    codes = set() if kernels_only else set(map(_code, functions))
    codes |= _leading_to_kernels(functions, {})
    return hashlib.sha256("\n\n".join(code for _, code in sorted(codes)).encode()).hexdigest()[:12]


def _leading_to_kernels(values: Iterable, seen: dict[int, set]) -> set[tuple[str, str]]:
    """The code of all kernels that these values lead to, and of what is on the way there."""
    found = set()
    for value in values:
        kernel = hasattr(value, "fn") and _is_ours(unwrapped(value))
        if id(value) not in seen and (kernel or callable(value)):
            seen[id(value)] = set()  # what leads back to itself adds nothing
            below = _leading_to_kernels(_next(value), seen)
            seen[id(value)] = below | {_code(value)} if below or kernel else below
        found |= seen.get(id(value), set())
    return found


def _next(value) -> Iterable:
    """What a function names; what a partial holds; the functions of a class, a method's class, or an operator."""
    function = unwrapped(value)
    if _is_ours(function):  # a perf_report can neither be called nor launched: what it measures is not looked into
        return named_values(function).values() if callable(value) or hasattr(value, "__getitem__") else ()
    if isinstance(function, functools.partial):
        return [function.func, *function.args, *function.keywords.values()]
    owner = getattr(function, "__self__", function)
    members = [*vars(type(owner)).values(), *getattr(owner, "__dict__", {}).values()]
    return [member for member in members if _is_ours(unwrapped(member))]


def _is_ours(function) -> bool:
    return inspect.isfunction(function) and function.__module__.startswith(OURS)


def _code(value) -> tuple[str, str]:
    """A name to sort by, and the code as Python writes it: without comments, layout and docstrings."""
    function = unwrapped(value)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if isinstance(function, functools.partial):
        return name, f"partial {_plain([*function.args, *function.keywords.items()])}"
    if not _is_ours(function):
        return name, name
    if function.__name__ == "<lambda>":  # its source is a piece of a line
        defaults = f" {_plain(function.__defaults__)}" if function.__defaults__ else ""
        text = f"lambda {_pieces(function.__code__)}{defaults}"
    else:
        text = _definition(function)
    for key, captured in sorted(named_values(function).items()):
        cell = key in function.__code__.co_freevars and isinstance(captured, (*PLAIN, tuple))
        if cell or type(captured).__name__ == "constexpr":
            text += f"\n{key} = {_plain(getattr(captured, 'value', captured))}"
    for config in getattr(value, "configs", ()):  # of an autotuner
        text += f"\n{config.kwargs} {config.num_warps} {config.num_stages}"
    return name, text


def _definition(function) -> str:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _pieces(code) -> str:
    """The names, constants and operators of compiled code."""
    constants = tuple(_pieces(one) if inspect.iscode(one) else one for one in code.co_consts)
    used = [one.argval for one in dis.get_instructions(code) if one.opname in ("BINARY_OP", "LOAD_SMALL_INT")]
    return f"{code.co_names} {constants}" + (f" {used}" if used else "")


def _plain(value) -> str:
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_plain, value))})"
    return repr(value) if isinstance(value, PLAIN) else type(value).__name__
