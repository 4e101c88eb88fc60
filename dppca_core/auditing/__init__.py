"""Empirical lower bounds on epsilon, and attacks that are held to trade-off curves."""
