"""One line that says how far a long measurement is; it is gone when the measurement is done."""

import time


class Progress:
    """Use as a context: `step(what)` before each of `total` steps shows what runs and how much is left."""

    def __init__(self, total: int):
        self.total, self.done, self.start, self.handle = total, 0, time.monotonic(), None

    def __enter__(self):
        return self

    def step(self, what: str) -> None:
        left = (time.monotonic() - self.start) / self.done * (self.total - self.done) if self.done else None
        self.done += 1
        rest = f", about {left:.0f} s left" if left is not None else ""
        self._show(f"{self.done} of {self.total}: {what}{rest}")

    def __exit__(self, *error):
        if not any(error):
            self._show("")

    def _show(self, text: str) -> None:
        from IPython import get_ipython
        from IPython.display import display

        if get_ipython() is None:
            print(text, flush=True) if text else None
        elif self.handle is None:
            self.handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self.handle.update({"text/plain": text}, raw=True)
