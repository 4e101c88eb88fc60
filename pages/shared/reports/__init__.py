"""HTML reports, downloads and sources."""
