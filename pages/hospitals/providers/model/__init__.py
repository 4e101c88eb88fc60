"""Compute what the page of hospitals that may join shows."""
