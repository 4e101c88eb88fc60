"""Programs that use the numerical core and are no part of it."""
