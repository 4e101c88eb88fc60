"""Show what a server sees of hospitals, message by message."""
