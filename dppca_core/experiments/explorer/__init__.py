"""The explorer's scene and the cells that are measured for it."""
