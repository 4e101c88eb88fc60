"""Experiments: what a screen or a script asks of the core, with seeds keyed by what a cell is."""
