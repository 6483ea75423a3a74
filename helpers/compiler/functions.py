"""What a Python function is to Triton: a kernel, something around one, or something that leads to one."""

import inspect
from collections.abc import Callable, Iterator

LIBRARIES = ("torch", "triton", "numpy", "matplotlib", "pandas")  # whose functions are not looked into


def is_kernel(value) -> bool:
    """Whether `value` is a `@triton.jit` function, or an autotuner or heuristics around one."""
    return hasattr(value, "fn") and hasattr(value, "run")


def jitted(kernel):
    """The `@triton.jit` function inside an autotuner or heuristics."""
    while not hasattr(kernel, "add_pre_run_hook"):
        kernel = kernel.fn
    return kernel


def unwrapped(function: Callable) -> Callable:
    """The Python function inside a jitted, autotuned or decorated one."""
    while (inner := getattr(function, "fn", None) or getattr(function, "__wrapped__", None)) is not None:
        function = inner
    return function


def named_values(function: Callable) -> dict[str, object]:
    """What a Python function, or one inside it, finds under the names that it looks up outside of itself.

    Of a module that it names (but of no library) also the attributes that it may mean, such as "ops.add_kernel".
    """
    names = set(_names(function.__code__))
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found |= {name: cell.cell_contents for name, cell in cells if not _is_empty(cell)}
    modules = {name: value for name, value in found.items() if inspect.ismodule(value)}
    modules = {name: value for name, value in modules.items() if not value.__name__.startswith(LIBRARIES)}
    return found | {f"{m}.{n}": getattr(v, n) for m, v in modules.items() for n in names if hasattr(v, n)}


def _names(code) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _names(constant)


def _is_empty(cell) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:  # a variable that is not assigned yet
        return True
    return False


def kernels_of(function: Callable) -> list:
    """The jitted functions that a function names, itself or through the functions that it names, each once."""
    found, seen, todo = [], set(), [function]
    while todo:
        value = todo.pop()
        if is_kernel(value):
            value = jitted(value)
            found += [value] if value not in found else []
        inner = unwrapped(value)
        if id(inner) in seen or not inspect.isfunction(inner) or inner.__module__.startswith(LIBRARIES):
            continue
        seen.add(id(inner))
        todo += [x for x in named_values(inner).values() if callable(x)]
    return found


def is_compiled(function: Callable) -> bool:
    """Whether `function`, or a module, is what `torch.compile` returned; torch has no public test for it."""
    return hasattr(function, "_torchdynamo_orig_callable")
