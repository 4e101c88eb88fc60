"""The sentences of the comparison of methods."""
