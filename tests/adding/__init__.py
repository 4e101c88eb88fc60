"""What is dropped into a copy of the tree to see that adding is easy: one file, or folder, of each kind."""
