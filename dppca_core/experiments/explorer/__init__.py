"""The explorer's experiment and the cells that are measured for it."""
