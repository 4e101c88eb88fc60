"""The lesson as one HTML file: its numbers, its words, and the file itself."""
