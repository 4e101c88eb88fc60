"""What is computed for the comparison of methods."""
