"""Pictures of programs, grids and trips to memory."""
