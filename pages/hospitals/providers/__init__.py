"""Show what hospitals gain by joining, and what they send."""
