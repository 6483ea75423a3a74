"""The kernels, launchers and references of every kind under one roof."""

from helpers.tests.zoo.additions import *  # noqa: F403
from helpers.tests.zoo.callers import *  # noqa: F403
from helpers.tests.zoo.elementwise import *  # noqa: F403
from helpers.tests.zoo.launchers import *  # noqa: F403
from helpers.tests.zoo.products import *  # noqa: F403
from helpers.tests.zoo.rows import *  # noqa: F403
from helpers.tests.zoo.tables import *  # noqa: F403
