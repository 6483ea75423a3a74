"""`python -m helpers` prints what this machine can do; exit status 0 when the course can run here."""

import sys

from .machine import main

sys.exit(main(sys.argv[1:]))
