"""What the author of a kernel wrote, read from its source: loads, stores and their masks, program ids, stubs."""

import ast
import inspect
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..compiler.functions import jitted, unwrapped

MASK_AT = {"load": 1, "store": 2}  # position of the argument `mask` in tl.load and tl.store
ATOMICS = ("atomic_add", "atomic_max", "atomic_min", "atomic_xchg", "atomic_cas", "atomic_and", "atomic_or",
           "atomic_xor")  # fmt: skip


@dataclass(frozen=True)
class Access:
    """One `tl.load` or `tl.store`: the function, the line in it (from 1), its text, and whether it has a mask."""

    kind: str
    function: str
    line: int
    text: str
    masked: bool
    pointer: str  # the name that the address begins with
    single: bool = False  # at an argument's own address, where there is no lane to mask

    def __str__(self) -> str:
        return f"line {self.line} of {self.function}, `{self.text}`"


@dataclass
class Authored:
    """What was found in some jitted functions; `unread` are those whose source cannot be had."""

    accesses: list[Access] = field(default_factory=list)
    stores_atomically: bool = False
    asks_which_program: bool = False
    python_logic: list[str] = field(default_factory=list)  # lines with and, or, not, or a chained comparison
    picks_places: list[str] = field(default_factory=list)  # lines with an argmax or argmin
    unread: list[str] = field(default_factory=list)

    def of(self, kind: str) -> list[Access]:
        return [access for access in self.accesses if access.kind == kind]

    def unmasked(self, kind: str) -> list[Access]:
        return [access for access in self.of(kind) if not access.masked and not access.single]

    def masks(self) -> str:
        """Such as "2 of 2 loads and 1 of 1 stores masked"."""
        loads, stores = (f"{sum(a.masked for a in self.of(kind))} of {len(self.of(kind))}" for kind in MASK_AT)
        return f"{loads} loads and {stores} stores masked"


def authored(kernels: Iterable, constants: dict | None = None) -> Authored:
    """What stands in these jitted functions; by kernel, `constants` has arguments of a launch, which pick branches."""
    found = Authored()
    for kernel in map(jitted, kernels):
        function = unwrapped(kernel)
        try:
            source = textwrap.dedent(inspect.getsource(function))
            tree = _Branches(function, (constants or {}).get(kernel, {})).visit(ast.parse(source))
        except (OSError, SyntaxError, TypeError):
            found.unread.append(function.__name__)
            continue
        _read(tree, source.splitlines(), function, found, kernel in (constants or {}))
    return found


class _Branches(ast.NodeTransformer):
    """Leaves of each `if` (or conditional expression) on constexpr arguments the branch that these take."""

    def __init__(self, function, arguments: dict):
        constants = _constexprs(function)
        self.known = {**function.__globals__, **{n: v for n, v in arguments.items() if n in constants}}
        self.constants = constants & set(arguments)

    def chosen(self, node: ast.If | ast.IfExp) -> bool | None:
        used = _names(node.test)
        if not used or not used & self.constants or used - set(self.known):
            return None
        try:
            return bool(eval(compile(ast.Expression(node.test), "", "eval"), self.known))
        except Exception:
            return None

    def visit_If(self, node: ast.If):
        chosen = self.chosen(node)
        self.generic_visit(node)
        return node if chosen is None else (node.body if chosen else node.orelse)

    def visit_IfExp(self, node: ast.IfExp):
        chosen = self.chosen(node)
        self.generic_visit(node)
        return node if chosen is None else (node.body if chosen else node.orelse)


def _constexprs(function) -> set[str]:
    return {p.name for p in inspect.signature(function).parameters.values() if "constexpr" in str(p.annotation)}


def _read(tree: ast.Module, lines: list[str], function, found: Authored, launched: bool) -> None:
    first = next(node for node in tree.body if isinstance(node, ast.FunctionDef)).lineno
    constants, arguments = _constexprs(function), inspect.signature(function).parameters

    def said(node: ast.AST) -> str:
        return f"line {node.lineno - first + 1} of {function.__name__}, `{lines[node.lineno - 1].strip()}`"

    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            if called in MASK_AT and node.args:
                mask = [k.value for k in node.keywords if k.arg == "mask"] + node.args[MASK_AT[called] :][:1]
                masked = bool(mask) and not (isinstance(mask[0], ast.Constant) and mask[0].value is None)
                line, text = node.lineno - first + 1, lines[node.lineno - 1].strip()
                base = next((n.id for n in ast.walk(node.args[0]) if isinstance(n, ast.Name)), "")
                single = launched and isinstance(node.args[0], ast.Name) and base in arguments
                found.accesses.append(Access(called, function.__name__, line, text, masked, base, single))
            found.stores_atomically |= called in ATOMICS
            found.asks_which_program |= called == "program_id"
            if called in ("argmax", "argmin") or any(k.arg == "return_indices" for k in node.keywords):
                found.picks_places.append(said(node))
        elif _is_python_logic(node) and not _names(node) <= constants:
            found.python_logic.append(said(node))


def _is_python_logic(node: ast.AST) -> bool:
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negated or isinstance(node, ast.BoolOp) or (isinstance(node, ast.Compare) and len(node.ops) > 1)


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def stub_above_code(functions: Iterable) -> str | None:
    """The name of a function in which code stands below `raise NotImplementedError`, or None."""
    for function in map(unwrapped, functions):
        try:
            (tree, *_) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        except (OSError, SyntaxError, TypeError, ValueError):
            continue
        body = getattr(tree, "body", [])
        places = [
            i for i, node in enumerate(body) if isinstance(node, ast.Raise) and "NotImplemented" in ast.dump(node)
        ]
        if places and places[0] + 1 < len(body):
            return function.__name__
    return None
