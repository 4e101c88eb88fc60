"""A new page."""
