"""Pages to learn from."""
