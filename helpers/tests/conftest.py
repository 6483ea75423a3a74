"""What several tests of the course share."""

from helpers.tests.synthetic import code, save

import pytest


@pytest.fixture
def course(tmp_path):
    """The folder of a course with one lecture and a README, for tests to write notebooks into."""
    save(tmp_path / "notebooks" / "02_vector_add.ipynb", code("one", "x = 1"))
    (tmp_path / "README.md").write_text("# Read me")
    return tmp_path
