"""What builds the course from its notebooks: kernels, executed notebooks, pages and lint. Not for learners."""
