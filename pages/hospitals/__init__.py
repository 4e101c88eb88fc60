"""Pages for hospitals."""
