"""Hold one file or folder of each kind, which a test drops into a copy of the tree."""
