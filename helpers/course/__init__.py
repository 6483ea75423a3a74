"""What builds the course from its notebooks: kernels, executed notebooks, pages and lint. Not for learners."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
