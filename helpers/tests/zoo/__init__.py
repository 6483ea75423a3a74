"""Wrong kernels that `check` must see through, each with what is wrong with it, and right ones that must pass.

`python -m helpers.tests.zoo` prints what `check` says of each in this mode. Entries stand in `wrong_entries.py` and
`right_entries.py`; kernels and their launchers, by kind, in the other modules.
"""

from helpers.tests.zoo import right_entries, wrong_entries  # noqa: F401  (they fill the lists)
from helpers.tests.zoo.entry import RIGHT, WRONG, Entry

__all__ = ["RIGHT", "WRONG", "Entry"]
