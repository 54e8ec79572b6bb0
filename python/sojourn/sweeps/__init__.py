"""Sweeps: the axes of a matrix of scenarios, and the cells that they make."""
