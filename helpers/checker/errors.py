"""What an exception of a candidate says, and whether it means "not written yet"."""


def chain(error: BaseException) -> list[BaseException]:
    """An exception and what it came from, the deepest cause last."""
    return [error, *(chain(error.__cause__) if error.__cause__ else [])]


def not_attempted(error: Exception) -> bool:
    """Whether an exception, or one it came from, is the stub's NotImplementedError, raised in Python or in a kernel.

    A compiler does not know `raise`: it reports the statement. torch raises the same class for a missing operator.
    """
    return any(
        (isinstance(e, NotImplementedError) and "aten::" not in str(e)) or "unsupported AST node type: Raise" in str(e)
        for e in chain(error)
    )


def message(error: Exception) -> str:
    """Such as "ValueError: x is empty": the deepest cause, its class and its first line (a compiler's: the last)."""
    cause = chain(error)[-1]
    if any("Compilation" in kind.__name__ for kind in type(cause).__mro__):
        return f"{type(cause).__name__}: {last_line(str(cause))}"
    return f"{type(cause).__name__}: {(str(cause).strip().splitlines() or ['(no message)'])[0][:200]}"


def last_line(text: str) -> str:
    """The last line that says something: a compiler's message may end with the caret under a piece of source."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip(" ^")), "(no message)")
