"""Draw the privacy page: what an attacker reads and concludes, and what delta and rounds cost."""
