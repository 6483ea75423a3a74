"""Kernels that a later notebook or a test reuses, generated from the notebooks that teach them (`make kernels`)."""
