"""Add a page by this folder alone."""
