"""Sweeps over a grid: recipe, cells, executors, stored tables."""
