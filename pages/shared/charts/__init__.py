"""Draw tables as figures, by plain functions, in one style."""
