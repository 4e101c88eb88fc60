"""Share the figure of rows and the sentences among all pages in plain view."""
