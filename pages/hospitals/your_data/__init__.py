"""Hold the page on a visitor's own table: load it, rehearse a release of it, release, and account for it."""
