"""`python -m helpers` prints what this machine can do; exit status 0 when the course can run here."""

import sys

from .doctor import main

sys.exit(main())
