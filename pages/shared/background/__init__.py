"""Whatever is measured after a page is shown, and what is kept of it."""
