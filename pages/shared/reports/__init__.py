"""Build HTML reports, downloads and lists of sources."""
