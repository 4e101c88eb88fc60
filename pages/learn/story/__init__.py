"""A talk in steps."""
