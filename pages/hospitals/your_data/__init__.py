"""A table of your own."""
