"""Empirical lower bounds on epsilon, attacks, and the trade-off curves that they are held to."""
