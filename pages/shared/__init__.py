"""Share helpers between pages. This folder is not in the menu, since it holds no page."""
