"""A kernel as text: its source, with whatever it names, in files that another process can import.

Each module (or notebook) from which something is taken becomes one file, so that names keep their meaning.
"""

import ast
import builtins
import importlib
import inspect
import textwrap
from collections.abc import Iterator

import triton.language as tl

LIBRARIES = ("triton", "math", "numpy", "torch")  # imported there, not carried


class NotCarried(Exception):
    """Something that a kernel names cannot be taken to the compiling process; the message says what."""


class Files:
    """The files: `texts` has their lines by name, `functions` what was carried, by the names that it has there."""

    def __init__(self):
        self.texts: dict[str, list[str]] = {}
        self.functions: dict[str, object] = {}
        self._modules: dict[int, str] = {}
        self._known: dict[int, tuple[str, str]] = {}

    def add(self, kernel) -> tuple[str, str]:
        """Carries a jitted function and all that it names; returns the file and the name that it has there.

        Raises NotCarried.
        """
        function = kernel.fn
        if id(function) in self._known:
            return self._known[id(function)]
        file = self._modules.setdefault(id(function.__globals__), f"carried_{len(self._modules)}")
        lines = self.texts.setdefault(file, ["import triton", "import triton.language as tl"])
        name = function.__name__
        while name in self.functions:
            name += "_"
        self._known[id(function)] = file, name
        self.functions[name] = function
        source, definition = _definition(function)
        for used, attributes in _names(definition):
            lines += self._carry(used, _value(function, used), attributes, file)
        decorator = "@triton.constexpr_function" if "onstexpr" in type(kernel).__name__ else "@triton.jit"
        lines += [decorator, source.replace(f"def {function.__name__}(", f"def {name}(", 1)]
        return file, name

    def _carry(self, name: str, value, attributes: set[str], file: str) -> list[str]:
        """The lines that give a name its value in a file."""
        if value is MISSING or getattr(builtins, name, MISSING) is value:
            return []
        module = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None) or ""
        if inspect.ismodule(value) and module.split(".")[0] in LIBRARIES:
            return [f"import {module} as {name}"]
        if inspect.ismodule(value):
            made = [f"import types; {name} = types.ModuleType({name!r})"]
            found = [(a, getattr(value, a)) for a in sorted(attributes) if hasattr(value, a)]
            return made + [line for a, inner in found for line in self._attribute(name, a, inner, file)]
        there = getattr(value, "__name__", "")
        if module.split(".")[0] == "triton" and getattr(importlib.import_module(module), there, None) is value:
            return [f"from {module} import {there} as {name}"]
        if hasattr(value, "fn"):
            home, there = self.add(value)
            return [f"{name} = {there}" if home == file else f"from {home} import {there} as {name}"]
        if inspect.isfunction(value):
            return [_definition(value)[0]]
        return [f"{name} = {literal(value, name)}"]

    def _attribute(self, module: str, name: str, value, file: str) -> list[str]:
        lines = self._carry("_attribute", value, set(), file)
        return [*lines, f"{module}.{name} = _attribute"]


MISSING = object()


def literal(value, name: str) -> str:
    """A value as Python source that uses no name but `tl`. Raises NotCarried."""
    if type(value).__name__ == "constexpr":
        return f"tl.constexpr({literal(value.value, name)})"
    if isinstance(value, tl.dtype):
        return "tl." + next(n for n in dir(tl) if getattr(tl, n) is value or getattr(tl, n) == value)
    if hasattr(value, "item") and hasattr(value, "dtype") and not hasattr(value, "data_ptr"):
        value = value.item()  # a number of numpy's
    if isinstance(value, float):
        return f"float({str(value)!r})"
    if value is None or isinstance(value, bool | int | str):
        return repr(value)
    if isinstance(value, tuple | list):
        return "(" + "".join(f"{literal(x, name)}, " for x in value) + ")"
    raise NotCarried(f"{name} is of type {type(value).__name__}, which cannot be taken to the compiler")


def _definition(function) -> tuple[str, ast.FunctionDef]:
    """A function's source without its decorators, and as a tree. Raises NotCarried."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise NotCarried(f"the source of {function.__name__} cannot be read ({error})") from error
    definition = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return "\n".join(source.splitlines()[definition.lineno - 1 :]), definition


def _names(definition: ast.FunctionDef) -> Iterator[tuple[str, set[str]]]:
    """The names that a definition uses, each with the attributes that it takes of it; decorators do not count."""
    parts = [*definition.args.args, *definition.args.defaults, *definition.body]
    nodes = [node for part in parts for node in ast.walk(part)]
    for name in sorted({node.id for node in nodes if isinstance(node, ast.Name)}):
        attributes = [n for n in nodes if isinstance(n, ast.Attribute) and getattr(n.value, "id", None) == name]
        yield name, {node.attr for node in attributes}


def _value(function, name: str):
    """What a function finds under a name outside of itself, or MISSING."""
    code = function.__code__
    if name in code.co_freevars:
        return function.__closure__[code.co_freevars.index(name)].cell_contents
    return MISSING if name in code.co_varnames else function.__globals__.get(name, MISSING)
