"""Planning a study."""
