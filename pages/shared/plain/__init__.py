"""What all pages in plain view share: the figure of rows, and the sentences."""
