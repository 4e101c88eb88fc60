"""Pages to explore one setting."""
